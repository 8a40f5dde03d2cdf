// Backend `ebb`: TensorFlow.js's storage interface over Ebb's own tensors.
import {
  type BackendValues,
  type DataType,
  engine,
  KernelBackend,
  type TensorInfo,
} from '@tensorflow/tfjs-core';
import { type Backend, bytesOf, type Engine } from '../engine/tfjs';
import { EbbError } from '../errors';
import {
  codeOf,
  EbbData,
  isOneMore,
  nativeValues,
  sameShape,
  sizeOf,
  unwritten,
  zeros,
} from './data';
import { runOp } from './recipe';
import { Runtime } from './runtime';

type DataId = object;

/** What the core's tape does not hear of. */
export interface TapingListener {
  /** Data came from another backend. */
  moved(): void;
  /** One more tensor has this data, and no kernel made it. */
  shared(dataId: DataId): void;
}

/**
 * Scalars, as a program has them everywhere. V8 keeps arrays as small as theirs within its heap, and would have to
 * move one out before the addon can read it.
 */
function isOneNumber(
  values: BackendValues | null,
  shape: number[],
  dtype: DataType,
): values is Float32Array | Int32Array | Uint8Array {
  const isNumber = dtype === 'float32' || dtype === 'int32' || dtype === 'bool';
  if (!isNumber || !ArrayBuffer.isView(values) || sizeOf(shape) !== 1) return false;
  return (values as Float32Array).length === 1;
}

export class EbbBackend extends KernelBackend {
  /** Marks data as this backend's: what `EbbData.home` is then. */
  readonly home: object | undefined = undefined;
  /** Data under ids that other backends gave out. */
  private readonly adopted = new WeakMap<DataId, EbbData>();
  /** Written or moved here, less what is gone: may be below zero. */
  private count = 0;
  /** Who takes a gradient of what runs now (tape/taping.ts). */
  taping: TapingListener | undefined = undefined;

  constructor(readonly runtime = new Runtime('cpu')) {
    super();
  }

  // ---- storage

  override write(values: BackendValues | null, shape: number[], dtype: DataType): EbbData {
    if (isOneNumber(values, shape, dtype)) return this.oneNumber(values[0] as number, shape, dtype);
    const data = new EbbData(0, shape, dtype);
    this.fill(data, values);
    this.count++;
    return data;
  }

  protected oneNumber(value: number, shape: number[], dtype: DataType): EbbData {
    return runOp(this, 'Fill', [], { shape, value, dtype });
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
    // Values of a tensor that is older, not values that a recorded function has of itself.
    const { listener } = this.runtime;
    this.runtime.listener = undefined;
    this.taping?.moved();
    try {
      this.fill(data, values);
    } finally {
      this.runtime.listener = listener;
    }
    data.refCount = refCount;
    if (data !== dataId) this.adopted.set(dataId, data);
    this.count++;
  }

  override readSync(dataId: DataId): BackendValues {
    const data = this.find(dataId, 'dataSync');
    const size = sizeOf(data.shape);
    if (size > 0) this.runtime.listener?.read(dataId, data);
    if (data.strings !== undefined) return data.strings;
    const values = unwritten(data.dtype, size);
    if (size === 0) return values;
    this.runtime.read(data.handle, values);
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
    this.taping?.shared(dataId);
    this.find(dataId, 'incRef').refCount++;
  }

  override refCount(dataId: DataId): number {
    return this.known(dataId)?.refCount ?? 0;
  }

  override numDataIds(): number {
    return this.runtime.born + this.count;
  }

  override memory(): { unreliable: boolean } {
    return { unreliable: false };
  }

  override dispose(): void {}

  /** Data has died that was born here; its memory is back. */
  died(): void {
    this.count--;
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

  /** Passes an operand to the operation that is being prepared, in the operand's shape. */
  operand(info: TensorInfo, op: string): void {
    const data = info.dataId as EbbData;
    if (this.isHere(data) && sameShape(info.shape, data.shape)) this.pass(info, data);
    else this.operandAs(info, op);
  }

  /** As operand(), but a leading axis of one may be left out: products broadcast over such axes. */
  matrices(info: TensorInfo, op: string): void {
    const data = info.dataId as EbbData;
    if (this.isHere(data) && isOneMore(info.shape, data.shape)) this.pass(info, data);
    else this.operand(info, op);
  }

  /** The native data behind an id, where it is on this backend. */
  here(dataId: DataId): EbbData | undefined {
    const data = this.known(dataId);
    return data !== undefined && data.handle > 0 ? data : undefined;
  }

  /** The data behind an operand, fetched from another backend where need be. */
  find(dataId: DataId, op: string): EbbData {
    const data = this.known(dataId);
    if (data !== undefined) return data;
    const mover = engine() as unknown as Engine;
    const info = mover.state.tensorInfo.get(dataId);
    if (info === undefined || (info.backend as unknown) === this) {
      throw new EbbError(
        'EBB_STALE_HANDLE',
        `[${op}] Received a tensor that is disposed; allowed: tensors that are not.`,
      );
    }
    mover.moveData(this as unknown as Backend, dataId);
    return this.known(dataId) as EbbData;
  }

  /** Lets go of what a kernel made on its way. */
  release(...infos: TensorInfo[]): void {
    for (const info of infos) this.disposeData(info.dataId);
  }

  private isHere(data: EbbData): boolean {
    return data.handle > 0 && data.home === this.home;
  }

  private known(dataId: DataId): EbbData | undefined {
    if (!(dataId instanceof EbbData) || dataId.home !== this.home) return this.adopted.get(dataId);
    return dataId.handle > 0 || dataId.strings !== undefined ? dataId : undefined;
  }

  private pass(info: TensorInfo, data: EbbData): void {
    const { runtime } = this;
    runtime.input(data.handle);
    if (runtime.listener !== undefined) runtime.listener.used(info, data);
  }

  private operandAs(info: TensorInfo, op: string): void {
    const { dataId, shape } = info;
    const data = this.find(dataId, op);
    if (data.strings !== undefined) {
      throw new EbbError(
        'EBB_INVALID_ARGUMENT',
        `[${op}] Received a tensor of dtype string; allowed: float32, int32, bool, complex64.`,
      );
    }
    if (sameShape(shape, data.shape)) {
      this.pass(info, data);
    } else {
      this.runtime.inputAs(data.handle, codeOf(data.dtype), shape);
      this.runtime.listener?.used(info, data);
    }
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
    data.strings = undefined;
    if (data.handle > 0) this.runtime.end(data, bytesOf(data.dtype, sizeOf(data.shape)));
  }
}
