// Backend `ebb`: TensorFlow.js's storage interface over Ebb's own tensors.
import {
  type BackendValues,
  type DataType,
  engine,
  KernelBackend,
  type TensorInfo,
} from '@tensorflow/tfjs-core';
import { EbbError } from '../errors';
import { bytesOf } from '../tfjs';
import { codeOf, EbbData, nativeValues, sameShape, sizeOf, unwritten, zeros } from './data';
import { Runtime } from './runtime';

type DataId = object;

export class EbbBackend extends KernelBackend {
  readonly runtime: Runtime;
  /** Marks data as this backend's: what `EbbData.home` is then. */
  readonly home: object | undefined = undefined;
  /** Data under ids that other backends gave out. */
  private readonly adopted = new WeakMap<DataId, EbbData>();
  private count = 0;

  constructor(runtime?: (born: () => void) => Runtime) {
    super();
    const born = (): number => this.count++;
    this.runtime = runtime === undefined ? new Runtime(born) : runtime(born);
  }

  // ---- storage

  override write(values: BackendValues | null, shape: number[], dtype: DataType): EbbData {
    const data = new EbbData(0, shape, dtype);
    this.fill(data, values);
    this.count++;
    return data;
  }

  override move(
    dataId: DataId,
    values: BackendValues,
    shape: number[],
    dtype: DataType,
    refCount: number,
  ): void {
    const data = dataId instanceof EbbData ? dataId : new EbbData(0, shape, dtype);
    data.shape = shape;
    data.dtype = dtype;
    this.fill(data, values);
    data.refCount = refCount;
    if (data !== dataId) this.adopted.set(dataId, data);
    this.count++;
  }

  override readSync(dataId: DataId): BackendValues {
    const data = this.find(dataId, 'dataSync');
    if (data.strings !== undefined) return data.strings;
    const size = sizeOf(data.shape);
    const values = unwritten(data.dtype, size);
    if (size > 0) this.runtime.read(data.handle, values);
    return values;
  }

  override read(dataId: DataId): Promise<BackendValues> {
    try {
      return Promise.resolve(this.readSync(dataId));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  override disposeData(dataId: DataId, force = false): boolean {
    const data = this.known(dataId);
    if (data === undefined) return true;
    data.refCount--;
    if (!force && data.refCount > 0) return false;
    this.count--;
    this.drop(data);
    if (data !== dataId) this.adopted.delete(dataId);
    return true;
  }

  override incRef(dataId: DataId): void {
    this.find(dataId, 'incRef').refCount++;
  }

  override refCount(dataId: DataId): number {
    return this.known(dataId)?.refCount ?? 0;
  }

  override numDataIds(): number {
    return this.count;
  }

  override memory(): { unreliable: boolean } {
    return { unreliable: false };
  }

  override dispose(): void {
    this.runtime.endFreed();
  }

  // ---- what TensorFlow.js asks about a backend

  override floatPrecision(): 16 | 32 {
    return 32;
  }

  override epsilon(): number {
    return super.epsilon();
  }

  override timerAvailable(): boolean {
    return true;
  }

  override time(run: () => void): Promise<{ kernelMs: number }> {
    const start = performance.now();
    run();
    return Promise.resolve({ kernelMs: performance.now() - start });
  }

  // ---- for kernels

  /** The native tensor of an operand, in the operand's shape. */
  handle(operand: TensorInfo, op: string): number {
    const data = operand.dataId as EbbData;
    if (data.handle > 0 && data.home === this.home && sameShape(operand.shape, data.shape)) {
      return data.handle;
    }
    return this.viewOf(operand, op);
  }

  /** The data behind an operand, fetched from another backend where need be. */
  find(dataId: DataId, op: string): EbbData {
    const data = this.known(dataId);
    if (data !== undefined) return data;
    const mover = engine() as unknown as {
      state: { tensorInfo: WeakMap<DataId, unknown> };
      moveData(backend: unknown, dataId: DataId): void;
    };
    if (!mover.state.tensorInfo.has(dataId)) {
      throw new EbbError(
        'EBB_STALE_HANDLE',
        `[${op}] Received a tensor that is disposed; allowed: tensors that are not.`,
      );
    }
    mover.moveData(this, dataId);
    return this.known(dataId) as EbbData;
  }

  /** Lets go of what a kernel made on its way. */
  release(...infos: TensorInfo[]): void {
    for (const info of infos) this.disposeData(info.dataId);
  }

  private known(dataId: DataId): EbbData | undefined {
    if (!(dataId instanceof EbbData) || dataId.home !== this.home) return this.adopted.get(dataId);
    return dataId.handle > 0 || dataId.strings !== undefined ? dataId : undefined;
  }

  private viewOf({ dataId, shape }: TensorInfo, op: string): number {
    const data = this.find(dataId, op);
    if (data.strings !== undefined) {
      throw new EbbError(
        'EBB_INVALID_ARGUMENT',
        `[${op}] Received a tensor of dtype string; allowed: float32, int32, bool, complex64.`,
      );
    }
    if (sameShape(shape, data.shape)) return data.handle;
    const found = data.views?.find((view) => sameShape(view.shape, shape));
    return found === undefined ? this.addView(data, shape) : found.handle;
  }

  private addView(data: EbbData, shape: number[]): number {
    const handle = this.runtime.view(data.handle, shape);
    (data.views ??= []).push({ shape: shape.slice(), handle });
    return handle;
  }

  private fill(data: EbbData, values: BackendValues | null): void {
    const { dtype, shape } = data;
    data.home = this.home;
    if (dtype === 'string') {
      data.strings = (values ?? []) as Uint8Array[];
      return;
    }
    const given =
      values === null || values === undefined
        ? zeros(dtype, sizeOf(shape))
        : nativeValues(dtype, values as unknown as ArrayLike<number>);
    data.handle = this.runtime.write(codeOf(dtype), shape, given);
  }

  private drop(data: EbbData): void {
    if (data.views !== undefined) {
      for (const view of data.views) this.runtime.free(view.handle, 0);
      data.views = undefined;
    }
    data.strings = undefined;
    if (data.handle > 0) {
      this.runtime.free(data.handle, bytesOf(data.dtype, sizeOf(data.shape)));
      data.handle = 0;
    }
  }
}
