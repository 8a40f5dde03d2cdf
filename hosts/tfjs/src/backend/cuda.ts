// Backend `ebb-cuda`: the same operations on an NVIDIA GPU. Reads resolve when the GPU has come so far; nothing blocks
// the loop meanwhile.
import type { BackendValues, DataType } from '@tensorflow/tfjs-core';
import { badArgument, EbbError } from '../errors';
import { howToGetCuda } from '../node/platforms';
import { EbbBackend } from './backend';
import { codeOf, EbbData, sizeOf, unwritten } from './data';
import { registerAs, registerForLater } from './register';
import { Runtime } from './runtime';

export const CUDA_NAME = 'ebb-cuda';
/** Below the CPU's backend: it is chosen by name, or by EBB_DEVICE. */
const PRIORITY = 1;
/** GPUs that have a backend each, `ebb-cuda:0` and so on, whether they are there or not. */
const NUMBERED = 8;

class CudaRuntime extends Runtime {
  protected override result(index: number): EbbData {
    const data = super.result(index);
    data.home = this;
    return data;
  }
}

function openRuntime(name: string): CudaRuntime {
  try {
    return new CudaRuntime(name);
  } catch (error) {
    const { message, code } = error as Error & { code: string };
    if (!message.includes('libebb_cuda.so was not found')) throw error;
    throw new EbbError(code, `${message}; ${howToGetCuda()}.`, { cause: error });
  }
}

const MOST_CONSTANTS = 256;
/** Elements of one that is kept. */
const MOST_ELEMENTS = 4096;

function isOfOneNumber(values: BackendValues | null, dtype: DataType, size: number): boolean {
  if (size < 2 || size > MOST_ELEMENTS || dtype === 'complex64' || dtype === 'string') return false;
  if (!ArrayBuffer.isView(values) || values.length !== size) return false;
  const first = values[0];
  for (let i = 1; i < size; i++) if (values[i] !== first) return false;
  return first !== 0; // zeros may have signs
}

export class CudaBackend extends EbbBackend {
  override readonly home: object;
  /**
   * By dtype, and shape where it has one: handles of numbers on the GPU, and of small tensors of one number. Programs
   * use the same few again and again (gradients those of ones), and each would be a launch or a copy.
   */
  private readonly constants = new Map<string, Map<number, number>>();
  private constantCount = 0;

  constructor(name: string) {
    const runtime = openRuntime(name);
    super(runtime);
    this.home = runtime;
  }

  override write(values: BackendValues | null, shape: number[], dtype: DataType): EbbData {
    return isOfOneNumber(values, dtype, sizeOf(shape))
      ? this.oneNumber((values as Float32Array)[0] as number, shape, dtype)
      : super.write(values, shape, dtype);
  }

  protected override oneNumber(value: number, shape: number[], dtype: DataType): EbbData {
    if (Object.is(value, -0)) return super.oneNumber(value, shape, dtype);
    const key = shape.length === 0 ? dtype : `${dtype} ${shape.join()}`;
    const constant = this.constants.get(key)?.get(value) ?? this.constant(key, value, shape, dtype);
    this.runtime.born++;
    const data = new EbbData(this.runtime.view(constant, codeOf(dtype), shape), shape, dtype);
    data.home = this.home;
    return data;
  }

  private constant(key: string, value: number, shape: number[], dtype: DataType): number {
    if (this.constantCount === MOST_CONSTANTS) this.forgetConstants();
    const { handle } = super.oneNumber(value, shape, dtype);
    this.runtime.born--; // it stays here
    const ofType = this.constants.get(key) ?? new Map<number, number>();
    this.constants.set(key, ofType.set(value, handle));
    this.constantCount++;
    return handle;
  }

  /** Whoever uses one has a tensor over it, which stays. */
  private forgetConstants(): void {
    for (const ofType of this.constants.values()) {
      for (const handle of ofType.values()) this.runtime.endHandle(handle, 0);
    }
    this.constants.clear();
    this.constantCount = 0;
  }

  override async read(dataId: object): Promise<BackendValues> {
    const data = this.find(dataId, 'data');
    const size = sizeOf(data.shape);
    if (data.strings !== undefined || size === 0) return this.readSync(dataId);
    const values = unwritten(data.dtype, size);
    await this.runtime.readLater(data.handle, values);
    return values;
  }
}

/** The GPU that EBB_DEVICE asks for; undefined: none, the CPU. */
export function chosenGpu(): string | undefined {
  const chosen = process.env.EBB_DEVICE || 'cpu';
  if (chosen === 'cpu') return undefined;
  if (!/^cuda:\d+$/.test(chosen))
    throw badArgument('EBB_DEVICE', chosen, 'cpu, cuda:0, cuda:1, ...');
  return chosen;
}

/** `EBB_DEVICE=cuda:1` names the GPU of `ebb-cuda`; otherwise it is the first one. */
export function registerCuda(): void {
  const device = chosenGpu() ?? 'cuda:0';
  registerAs(CUDA_NAME, () => new CudaBackend(device), PRIORITY);
  for (let i = 0; i < NUMBERED; i++) {
    registerForLater(`${CUDA_NAME}:${i}`, () => new CudaBackend(`cuda:${i}`));
  }
}
