// Running kernels: a safe point before each, never inside; and what to do when a backend runs out.
import type { Books } from '../books/books';
import { EbbError } from '../errors';
import type { Faults } from './faults';
import type { Backend, DataId, Engine, KernelCall, Tensor, WasmModule } from './tfjs';

const OUT_OF_MEMORY =
  /out of memory|\bOOM\b|allocation failed|(failed|cannot|unable) to allocate|cannot allocate|resource ?exhausted/i;

const NOTHING = {};

/** What a heap of WebAssembly can have at most. */
const WASM_BYTES = 2 ** 32;

function tooLarge(bytes: number): EbbError {
  return new EbbError(
    'EBB_OUT_OF_MEMORY',
    `[wasm] Received ${bytes} bytes for one tensor; allowed: at most ${WASM_BYTES}, all that the backend can address.`,
  );
}

function sizeOf(shape: readonly number[]): number {
  let size = 1;
  for (const extent of shape) size *= extent;
  return size;
}

export class Calls {
  /** Kernels on the stack. The body of a customGrad is not one. */
  running = 0;
  /** What running kernels work on: their operands must outlive a collection in mid-kernel. */
  private readonly calls: Array<KernelCall | undefined> = [];
  /** What running kernels have allocated so far: backend, data id, backend, data id, ... */
  private readonly fresh: Array<Backend | DataId> = [];
  private allocated = 0;

  constructor(
    private readonly engine: Engine,
    private readonly books: Books,
    private readonly faults: Faults,
    private readonly run: (call: KernelCall) => Tensor | Tensor[],
  ) {}

  call(call: KernelCall): Tensor | Tensor[] {
    if (call.kernelName === undefined) return this.run(call);
    if (this.running === 0) {
      this.faults.check();
      this.books.look();
    }
    this.calls[this.running++] = call;
    const before = this.allocated;
    try {
      return this.run(call);
    } catch (error) {
      return this.recover(error, call, before);
    } finally {
      this.calls[--this.running] = undefined;
      if (this.running === 0) this.forget();
    }
  }

  /** Learns what a backend allocates, and interposes where it would not notice that it ran out. */
  adopt(backend: Backend): void {
    const { write } = backend;
    const { fresh } = this;
    backend.write = (values, shape, dtype) => {
      if (this.running > 0) this.books.lookInKernel(backend, sizeOf(shape), dtype);
      const dataId = write.call(backend, values, shape, dtype);
      if (this.running > 0) {
        fresh[this.allocated++] = backend;
        fresh[this.allocated++] = dataId;
      }
      return dataId;
    };
    if (typeof backend.wasm?._malloc === 'function') this.guard(backend, backend.wasm);
  }

  private guard(backend: Backend, wasm: WasmModule): void {
    wasm._free(wasm._malloc(1)); // the first call replaces the property
    const { _malloc: malloc } = wasm;
    wasm._malloc = (bytes) => {
      if (bytes > WASM_BYTES) throw tooLarge(bytes); // malloc would take what is left of it modulo 2^32
      return malloc(bytes) || (bytes === 0 ? 0 : this.mallocAgain(malloc, bytes, backend));
    };
  }

  private mallocAgain(malloc: (bytes: number) => number, bytes: number, backend: Backend): number {
    for (;;) {
      this.books.makeRoom(backend, bytes);
      const address = malloc(bytes);
      if (address !== 0) return address;
    }
  }

  /** A backend ran out: the ladder, and the kernel once more. Ebb's own have climbed it before they say so. */
  private recover(error: unknown, call: KernelCall, before: number): Tensor | Tensor[] {
    const text = error instanceof Error ? error.message : String(error);
    const ours = (error as EbbError | undefined)?.code === 'EBB_OUT_OF_MEMORY';
    if (!ours && !OUT_OF_MEMORY.test(text)) throw error;
    this.giveBack(before);
    const backend = this.engine.backendInstance;
    if (ours || this.running > 1 || backend == null) throw error;
    try {
      this.books.makeRoom(backend, 1);
    } catch (nothing) {
      const both = `${text}\n${(nothing as Error).message}`;
      throw new EbbError('EBB_OUT_OF_MEMORY', both, { cause: error });
    }
    return this.run(call);
  }

  /** What a kernel allocated is its tensors' now; held here, it could not die. */
  private forget(): void {
    while (this.allocated > 0) this.fresh[--this.allocated] = NOTHING;
  }

  private giveBack(before: number): void {
    while (this.allocated > before) {
      const dataId = this.fresh[--this.allocated] as DataId;
      const backend = this.fresh[--this.allocated] as Backend;
      if (!this.engine.state.tensorInfo.has(dataId)) backend.disposeData(dataId, true);
    }
  }
}
