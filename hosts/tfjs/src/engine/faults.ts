// What goes wrong on a GPU behind everybody's back. A device that runs out of memory or is lost says so later, if at
// all, and TensorFlow.js goes on with numbers that nobody computed. Here it becomes an error: at the next safe point, and
// in place of each value that is read from then on.
import { EbbError } from '../errors';
import { host } from '../host';
import type { Backend, DataId } from './tfjs';
import { Witness, type WitnessedDevice } from './witness';

interface GpuDevice extends WitnessedDevice {
  readonly lost: Promise<{ reason?: string; message?: string }>;
  destroy?(): void;
  addEventListener?(
    name: 'uncapturederror',
    heard: (event: { error?: { message?: string; constructor: { name: string } } }) => void,
  ): void;
}

interface Gl {
  readonly OUT_OF_MEMORY: number;
  readonly canvas?: { addEventListener?(name: string, heard: () => void): void };
  isContextLost(): boolean;
  getError(): number;
}

/** Where data is; with values they are at hand, and no GPU is asked for them. */
interface DataPlaces {
  has(dataId: DataId): boolean;
  get(dataId: DataId): { readonly values?: unknown };
}

/** What is used of webgpu's and webgl's backends. */
type GpuBackend = Backend & {
  /** webgl's. */
  texData?: DataPlaces;
  /** webgpu's. */
  tensorMap?: DataPlaces;
  read?(dataId: DataId): Promise<unknown>;
  readSync?(dataId: DataId): unknown;
  device?: GpuDevice;
  gpgpu?: { gl?: Gl };
  disposed?: boolean;
};

const HOLDERS = 5;

/** Who holds most, a line each; tracing must be on for names. */
function holders(): string {
  try {
    return `\nWho holds what:\n${host().report(HOLDERS, false, false)}`;
  } catch {
    return '';
  }
}

function isAtHand({ texData, tensorMap }: GpuBackend, dataId: DataId): boolean {
  const places = texData ?? tensorMap;
  return places?.has(dataId) === true && places.get(dataId).values != null;
}

export class Faults {
  private fault: EbbError | undefined;
  private readonly contexts: Array<{ backend: GpuBackend; gl: Gl }> = [];
  /** A context was asked for values since its errors were looked at. */
  private asked = false;
  /** Called once, when it has happened. */
  onFault: (error: EbbError) => void = () => {};
  /** Whether there is a GPU that could fail. */
  watching = false;

  watch(backend: Backend): void {
    const { device, gpgpu } = backend as GpuBackend;
    if (typeof device?.lost?.then === 'function') this.watchDevice(backend as GpuBackend, device);
    if (typeof gpgpu?.gl?.isContextLost === 'function')
      this.watchContext(backend as GpuBackend, gpgpu.gl);
  }

  /** Throws what has happened. Costs next to nothing while nothing has. */
  check(): void {
    if (this.fault !== undefined) throw this.fault;
  }

  /** The same where a value was read: what webgl says comes late. */
  look(): void {
    this.notice();
    this.check();
  }

  /** What has happened, for whoever is about to wait for a value: a GPU that is gone would never answer. */
  failure(): EbbError | undefined {
    this.notice();
    return this.fault;
  }

  private notice(): void {
    for (const { backend, gl } of this.contexts) {
      if (backend.disposed === true) continue;
      if (gl.isContextLost()) this.happened('webgl', 'EBB_DEVICE_ERROR', 'The context is lost.');
    }
  }

  /** After a read. Where it asked a context it has waited for the GPU; otherwise nobody has to. */
  lookClosely(): void {
    const { asked } = this;
    this.asked = false;
    if (asked) for (const { backend, gl } of this.contexts) this.askError(backend, gl);
    this.look();
  }

  private askError(backend: GpuBackend, gl: Gl): void {
    if (backend.disposed === true || gl.isContextLost()) return;
    if (gl.getError() === gl.OUT_OF_MEMORY)
      this.happened('webgl', 'EBB_OUT_OF_MEMORY', 'The GPU ran out of memory.');
  }

  /** The engine began anew. */
  forget(): void {
    this.fault = undefined;
    this.contexts.length = 0;
  }

  private watchContext(backend: GpuBackend, gl: Gl): void {
    this.watching = true;
    this.contexts.push({ backend, gl });
    this.noteReads(backend);
    gl.canvas?.addEventListener?.('webglcontextlost', () => this.notice());
  }

  /** Whoever reads, kernels too: what they have read is kept at hand, and given out later without the GPU. */
  private noteReads(backend: GpuBackend): void {
    const { read, readSync } = backend;
    backend.read = async (dataId) => {
      const atHand = isAtHand(backend, dataId);
      const values = await read?.call(backend, dataId);
      if (!atHand) this.asked = true;
      return values;
    };
    backend.readSync = (dataId) => {
      if (!isAtHand(backend, dataId)) this.asked = true;
      return readSync?.call(backend, dataId);
    };
  }

  private watchDevice(backend: GpuBackend, device: GpuDevice): void {
    this.watching = true;
    this.hearDestroy(backend, device);
    this.doubtReads(backend, device);
    device.addEventListener?.('uncapturederror', ({ error }) => {
      if (backend.disposed === true || error?.constructor.name !== 'GPUOutOfMemoryError') return;
      this.happened('webgpu', 'EBB_OUT_OF_MEMORY', `The GPU ran out of memory: ${error.message}`);
    });
    void device.lost.then(({ reason, message }) => {
      if (backend.disposed === true) return;
      const why = [reason, message].filter((text) => text).join(', ');
      this.happened(
        'webgpu',
        'EBB_DEVICE_ERROR',
        `The device is lost (${why || 'no reason given'}).`,
      );
    });
  }

  /** The program's own doing: known at once, while `lost` is told later. */
  private hearDestroy(backend: GpuBackend, device: GpuDevice): void {
    const { destroy } = device;
    if (destroy === undefined) return;
    device.destroy = () => {
      destroy.call(device);
      if (backend.disposed !== true)
        this.happened('webgpu', 'EBB_DEVICE_ERROR', 'The device is lost (destroyed).');
    };
  }

  /**
   * Synchronous reads, also those by which tensors move to another backend: a device that went away meanwhile gave what
   * nobody computed, and `lost` is told only once the job has ended.
   */
  private doubtReads(backend: GpuBackend, device: GpuDevice): void {
    const { readSync } = backend;
    const witness = new Witness(device);
    backend.readSync = (dataId) => {
      this.check();
      const atHand = isAtHand(backend, dataId);
      const values = readSync?.call(backend, dataId);
      if (atHand) return values;
      if (!witness.agrees())
        this.happened('webgpu', 'EBB_DEVICE_ERROR', 'The device is lost (it does not answer).');
      this.check();
      return values;
    };
  }

  private happened(where: string, code: string, what: string): void {
    if (this.fault !== undefined) return;
    this.fault = new EbbError(
      code,
      `[${where}] ${what} What was computed since may be wrong and is not given out; begin again with tf.engine().reset(), or start anew.${holders()}`,
    );
    this.onFault(this.fault);
  }
}
