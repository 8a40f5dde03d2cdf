// Backend `ebb-cuda`: the same operations on an NVIDIA GPU. Reads resolve when the GPU has come so far; nothing blocks
// the loop meanwhile.
import type { BackendValues, DataType } from '@tensorflow/tfjs-core';
import { badArgument } from '../errors';
import { native } from '../native';
import { EbbBackend } from './backend';
import { EbbData, sizeOf, unwritten } from './data';
import { registerAs, registerForLater } from './register';
import { type NativeRuntime, Runtime } from './runtime';

export const CUDA_NAME = 'ebb-cuda';
/** Below the CPU's backend: it is chosen by name, or by EBB_DEVICE. */
const PRIORITY = 1;
/** GPUs that have a backend each, `ebb-cuda:0` and so on, whether they are there or not. */
const NUMBERED = 8;
/** So many times a read is looked at in the very next round of the loop; then once in a millisecond. */
const EAGER_POLLS = 64;

interface DeviceRuntime extends NativeRuntime {
  readBegin(handle: number): number;
  readPoll(read: number): number;
  readEnd(read: number, into: ArrayBufferView): void;
  readDrop(read: number): void;
}

class CudaRuntime extends Runtime {
  protected override result(index: number): EbbData {
    const data = super.result(index);
    data.home = this.native;
    return data;
  }
}

/**
 * A number on the GPU, or a small tensor of one number, that tensors share: programs use the same few again and again
 * (gradients those of ones), and each would be a launch or a copy.
 */
interface Constant {
  readonly handle: number;
  users: number;
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

class ConstantData extends EbbData {
  constructor(
    public constant: Constant | undefined,
    handle: number,
    shape: number[],
    dtype: DataType,
  ) {
    super(handle, shape, dtype);
  }
}

export class CudaBackend extends EbbBackend {
  override readonly home: object;
  private readonly device: DeviceRuntime;
  /** By dtype, and shape where it has one. */
  private readonly constants = new Map<string, Map<number, Constant>>();
  private constantCount = 0;

  constructor(name: string) {
    const device = (
      native() as unknown as { deviceRuntime(name: string): DeviceRuntime }
    ).deviceRuntime(name);
    super(new CudaRuntime(device));
    this.device = device;
    this.home = device;
  }

  override write(values: BackendValues | null, shape: number[], dtype: DataType): EbbData {
    return isOfOneNumber(values, dtype, sizeOf(shape))
      ? this.oneNumber((values as Float32Array)[0] as number, shape, dtype)
      : super.write(values, shape, dtype);
  }

  protected override oneNumber(value: number, shape: number[], dtype: DataType): EbbData {
    if (Object.is(value, -0)) return super.oneNumber(value, shape, dtype);
    const key = shape.length === 0 ? dtype : `${dtype} ${shape.join()}`;
    let ofType = this.constants.get(key);
    let constant = ofType?.get(value);
    if (constant === undefined) {
      if (this.constantCount === MOST_CONSTANTS) this.forgetUnused();
      const made = super.oneNumber(value, shape, dtype);
      if (this.constantCount === MOST_CONSTANTS) return made;
      const { handle } = made;
      constant = { handle, users: 0 };
      // Making room may have taken the map away.
      ofType = this.constants.get(key);
      if (ofType === undefined) this.constants.set(key, (ofType = new Map<number, Constant>()));
      ofType.set(value, constant);
      this.constantCount++;
    } else {
      this.runtime.born++;
    }
    constant.users++;
    const data = new ConstantData(constant, constant.handle, shape, dtype);
    data.home = this.home;
    return data;
  }

  protected override drop(data: EbbData): void {
    if (data instanceof ConstantData && data.constant !== undefined) {
      data.constant.users--;
      data.constant = undefined;
      data.handle = 0;
    } else {
      super.drop(data);
    }
  }

  /** Those that nobody uses make room for others. */
  private forgetUnused(): void {
    this.constantCount = 0;
    for (const [key, ofType] of this.constants) {
      for (const [value, { handle, users }] of ofType) {
        if (users > 0) continue;
        this.runtime.free(handle, 0);
        ofType.delete(value);
      }
      this.constantCount += ofType.size;
      if (ofType.size === 0) this.constants.delete(key);
    }
  }

  override async read(dataId: object): Promise<BackendValues> {
    const data = this.find(dataId, 'data');
    const size = sizeOf(data.shape);
    if (data.strings !== undefined || size === 0) return this.readSync(dataId);
    const values = unwritten(data.dtype, size);
    const read = this.device.readBegin(data.handle);
    try {
      for (let polls = 0; this.device.readPoll(read) === 0; polls++) await nextRound(polls);
      this.device.readEnd(read, values);
    } catch (error) {
      this.device.readDrop(read);
      throw error;
    }
    return values;
  }
}

function nextRound(polls: number): Promise<void> {
  return new Promise((resolve) => {
    if (polls < EAGER_POLLS) setImmediate(resolve);
    else setTimeout(resolve, 1);
  });
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
