// Backend `ebb-cuda`: the same operations on an NVIDIA GPU. Reads resolve when the GPU has come so far; nothing blocks
// the loop meanwhile.
import type { BackendValues } from '@tensorflow/tfjs-core';
import { native } from '../native';
import { EbbBackend } from './backend';
import { type EbbData, sizeOf, unwritten } from './data';
import { NAME, registerAs } from './register';
import { type NativeRuntime, Runtime } from './runtime';

export const CUDA_NAME = 'ebb-cuda';
/** Below the CPU's backend: it is chosen by name, or by EBB_DEVICE. */
const PRIORITY = 1;
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

export class CudaBackend extends EbbBackend {
  override readonly home: object;
  private readonly device: DeviceRuntime;

  constructor(name: string) {
    const device = (
      native() as unknown as { deviceRuntime(name: string): DeviceRuntime }
    ).deviceRuntime(name);
    super(new CudaRuntime(device));
    this.device = device;
    this.home = device;
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

function chosenDevice(): string {
  return process.env.EBB_DEVICE ?? '';
}

/** `EBB_DEVICE=cuda:1` names the GPU; otherwise it is the first one. */
export function registerCuda(): void {
  const chosen = chosenDevice();
  const device = chosen.startsWith('cuda:') ? chosen : 'cuda:0';
  registerAs(CUDA_NAME, () => new CudaBackend(device), PRIORITY);
}

/** The backend that EBB_DEVICE asks for. */
export function chosenBackend(): string {
  return chosenDevice().startsWith('cuda:') ? CUDA_NAME : NAME;
}
