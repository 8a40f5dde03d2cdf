// Running kernels: a safe point before each, never inside; and what to do when a backend runs out.
import type { Books } from './books';
import { EbbError } from './errors';
import type { Backend, DataId, Engine, KernelCall, Tensor, WasmModule } from './tfjs';

const OUT_OF_MEMORY =
  /out of memory|\bOOM\b|allocation failed|(failed|cannot|unable) to allocate|cannot allocate|resource ?exhausted/i;

export class Kernels {
  /** Kernels on the stack. The body of a customGrad is not one. */
  running = 0;
  /** What running kernels work on: their operands must outlive a collection in mid-kernel. */
  private readonly calls: KernelCall[] = [];
  /** What running kernels have allocated so far: backend, data id, backend, data id, ... */
  private readonly fresh: Array<Backend | DataId> = [];

  constructor(
    private readonly engine: Engine,
    private readonly books: Books,
    private readonly run: (call: KernelCall) => Tensor | Tensor[],
  ) {}

  call(call: KernelCall): Tensor | Tensor[] {
    if (call.kernelName === undefined) return this.run(call);
    if (this.running === 0) this.books.look();
    this.running++;
    this.calls.push(call);
    const before = this.fresh.length;
    try {
      return this.run(call);
    } catch (error) {
      return this.recover(error, call, before);
    } finally {
      this.calls.pop();
      if (--this.running === 0) this.fresh.length = 0;
    }
  }

  /** Learns what a backend allocates, and interposes where it would not notice that it ran out. */
  adopt(backend: Backend, device: number): void {
    const { write } = backend;
    const { fresh } = this;
    backend.write = (values, shape, dtype) => {
      const dataId = write.call(backend, values, shape, dtype);
      if (this.running > 0) fresh.push(backend, dataId);
      return dataId;
    };
    if (typeof backend.wasm?._malloc === 'function') this.guard(backend.wasm, device);
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
    const ours = error instanceof Error && (error as EbbError).code === 'EBB_OUT_OF_MEMORY';
    if (!ours && !OUT_OF_MEMORY.test(text)) throw error;
    this.giveBack(before);
    if (ours || this.running > 1) throw error;
    const backend = this.engine.backendInstance;
    if (backend == null) throw error;
    try {
      this.books.makeRoom(this.books.device(backend), 1);
    } catch (nothing) {
      throw new EbbError('EBB_OUT_OF_MEMORY', `${text}\n${(nothing as Error).message}`, {
        cause: error,
      });
    }
    return this.run(call);
  }

  private giveBack(before: number): void {
    const allocated = this.fresh.splice(before);
    for (let i = 0; i < allocated.length; i += 2) {
      const dataId = allocated[i + 1] as DataId;
      if (this.engine.state.tensorInfo.has(dataId)) continue;
      (allocated[i] as Backend).disposeData(dataId, true);
    }
  }
}
