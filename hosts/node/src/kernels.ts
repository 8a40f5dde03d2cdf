// Running kernels: a safe point before each, never inside; and what to do when a backend runs out.
import type { Books } from './books';
import { EbbError } from './errors';
import type { Backend, DataId, Engine, KernelCall, Tensor, WasmModule } from './tfjs';

const OUT_OF_MEMORY =
  /out of memory|\bOOM\b|allocation failed|(failed|cannot|unable) to allocate|cannot allocate|resource ?exhausted/i;

function raise(error: unknown): never {
  throw error;
}

export class Kernels {
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
    private readonly run: (call: KernelCall) => Tensor | Tensor[],
  ) {}

  call(call: KernelCall): Tensor | Tensor[] {
    if (call.kernelName === undefined) return this.run(call);
    if (this.running === 0) this.books.look();
    this.calls[this.running++] = call;
    const before = this.allocated;
    try {
      return this.run(call);
    } catch (error) {
      return this.recover(error, call, before);
    } finally {
      this.calls[--this.running] = undefined;
      if (this.running === 0) this.allocated = 0;
    }
  }

  /** Learns what a backend allocates, and interposes where it would not notice that it ran out. */
  adopt(backend: Backend, device: number): void {
    const { write } = backend;
    const { fresh } = this;
    backend.write = (values, shape, dtype) => {
      const dataId =
        backend.runtime === undefined
          ? write.call(backend, values, shape, dtype)
          : this.createOwn(backend, () => write.call(backend, values, shape, dtype));
      if (this.running > 0) {
        fresh[this.allocated++] = backend;
        fresh[this.allocated++] = dataId;
      }
      return dataId;
    };
    if (typeof backend.wasm?._malloc === 'function') this.guard(backend.wasm, device);
  }

  /** Data of backend `ebb` that no kernel asked for: room may be made while it waits. */
  private createOwn(backend: Backend, create: () => DataId): DataId {
    for (;;) {
      try {
        return create();
      } catch (error) {
        const { code, message } = error as EbbError;
        if (code !== 'EBB_OUT_OF_MEMORY' || this.running > 0) throw error;
        this.makeRoom(backend, message, error);
      }
    }
  }

  private guard(wasm: WasmModule, device: number): void {
    wasm._free(wasm._malloc(1)); // the first call replaces the property
    const { _malloc: malloc } = wasm;
    wasm._malloc = (bytes) =>
      malloc(bytes) || (bytes === 0 ? 0 : this.mallocAgain(malloc, bytes, device));
  }

  private mallocAgain(malloc: (bytes: number) => number, bytes: number, device: number): number {
    for (;;) {
      this.books.makeRoom(device, bytes);
      const address = malloc(bytes);
      if (address !== 0) return address;
    }
  }

  private recover(error: unknown, call: KernelCall, before: number): Tensor | Tensor[] {
    const text = error instanceof Error ? error.message : String(error);
    const backend = this.engine.backendInstance;
    const ours = error instanceof Error && (error as EbbError).code === 'EBB_OUT_OF_MEMORY';
    if (!ours && !OUT_OF_MEMORY.test(text)) throw error;
    this.giveBack(before);
    // Where it was the runtime of backend `ebb` that found no room, nothing has been tried yet.
    const tried = ours && backend?.runtime === undefined;
    if (tried || this.running > 1 || backend == null) throw error;
    this.makeRoom(backend, text, error);
    try {
      return this.run(call);
    } catch (again) {
      // Making room gives back a little at a time; it ends when nothing comes back.
      return backend.runtime === undefined ? raise(again) : this.recover(again, call, before);
    }
  }

  private makeRoom(backend: Backend, text: string, cause: unknown): void {
    try {
      this.books.makeRoom(this.books.device(backend), 1);
    } catch (nothing) {
      throw new EbbError('EBB_OUT_OF_MEMORY', withHolders(text, (nothing as Error).message), {
        cause,
      });
    }
  }

  private giveBack(before: number): void {
    while (this.allocated > before) {
      const dataId = this.fresh[--this.allocated] as DataId;
      const backend = this.fresh[--this.allocated] as Backend;
      if (!this.engine.state.tensorInfo.has(dataId)) backend.disposeData(dataId, true);
    }
  }
}

const HOLDERS = 'Largest holders:';

/** What the backend says, and who holds the memory by Ebb's books: they know places where Ebb's own backends do not. */
function withHolders(text: string, books: string): string {
  const own = text.indexOf(HOLDERS);
  const theirs = books.indexOf(HOLDERS);
  return own < 0 || theirs < 0 ? `${text}\n${books}` : text.slice(0, own) + books.slice(theirs);
}
