// The parts of TensorFlow.js's engine that Ebb touches, as they are in 4.x. Structural on purpose: several
// copies of tfjs-core share one engine, so no class of any of them may be relied on.
import type { Guess } from '../books/guesses';

export type DataId = object;

export interface Tensor {
  readonly id: number;
  readonly dataId: DataId;
  readonly dtype: string;
  readonly shape: number[];
  readonly size: number;
  readonly isDisposed: boolean;
  kept: boolean;
  scopeId?: number;
  dispose(): void;
}

export interface Variable extends Tensor {
  readonly name: string;
  assign(value: Tensor): void;
}

export interface Backend {
  disposeData(dataId: DataId, force?: boolean): boolean;
  write(values: unknown, shape: number[], dtype: string): DataId;
  wasm?: WasmModule;
  /** Backends of Ebb's own have one. */
  runtime?: { readonly device: number };
  /** Ebb's own: data has died, and its memory is back. */
  died?(): void;
}

/** A data id of Ebb's own backends. */
export interface OwnData {
  /** The native tensor; 0: none. */
  handle: number;
  refCount: number;
  /** The slot that watches it; -1: none. */
  slot: number;
  /**
   * The first tensor over it, while the slot speaks for both: no weak reference to the tensor is needed. It lives as
   * long as the data then, or until a major collection is asked for while there are others.
   */
  first: Tensor | undefined;
}

export interface WasmModule {
  _malloc(bytes: number): number;
  _free(address: number): void;
}

/** The part of a WeakMap that the engine uses. */
export interface DataTable {
  get(dataId: DataId): DataRecord | undefined;
  has(dataId: DataId): boolean;
  set(dataId: DataId, record: DataRecord): unknown;
  delete(dataId: DataId): boolean;
}

/** The engine's record of one piece of data. The last fields are Ebb's. */
export interface DataRecord {
  backend: Backend;
  dtype: string;
  shape: number[];
  bytes: number;
  /** Who keeps the books of the engine that it belongs to. */
  ebbBooks?: { giveBack(slot: number): void };
  /** Undefined where the data id itself is watched. */
  ebbDataId: DataId | undefined;
  ebbKey: number;
  /** A slot that watches a tensor over this data, or the data; -1: none. */
  ebbSlot: number;
}

export interface Scope {
  /** Tensors, or the ids of tensors that are only held weakly. */
  track: Array<Tensor | number>;
  name: string;
  id: number;
  /** The scope that this one was opened in. */
  parent?: Scope;
  /** The async region whose code opened this scope; its own region for a region. */
  region?: Scope;
  closed?: boolean;
  /** Owns nothing: tensors go to the parent (`expectNoLeaks`). */
  transparent?: boolean;
  /** Ids of the tensors born inside, while somebody wants to know. */
  births?: number[];
  /** The least of them: a variable that is assigned to is tracked again, as old as it is. */
  firstId?: number;
  /** What the site was taken from, if nobody looked. */
  guess?: Guess;
  /** Creation site of what an op makes. */
  site?: number;
  /** Length of `track` at which ids of ended tensors are swept out. */
  sweepAt?: number;
}

export interface EngineState {
  registeredVariables: Record<string, Variable>;
  numTensors: number;
  numStringTensors: number;
  numDataBuffers: number;
  numBytes: number;
  scopeStack: Scope[];
  activeScope: Scope | null | undefined;
  nextScopeId: number;
  tensorInfo: DataTable;
  /** Gradients that are being taken, and kernels that run. */
  gradientDepth: number;
  kernelDepth: number;
  profiling: boolean;
}

/** What a kernel returns: a tensor, or what one is made of. */
export type TensorInfo = Pick<Tensor, 'dataId' | 'dtype' | 'shape'> & { rank?: number };

export interface KernelCall {
  kernelName?: string;
  inputs: unknown;
  attrs?: unknown;
}

export interface Flag {
  setHook?: (value: number) => void;
}

export interface Engine {
  state: EngineState;
  backendName: string | null;
  backendInstance: Backend | null;
  readonly backend: Backend;
  registry: Record<string, Backend>;
  ENV: {
    flagRegistry: Record<string, Flag | undefined>;
    /** Those that were asked for or set. */
    flags: Record<string, boolean | number | string | undefined>;
    getNumber(flag: string): number;
  };
  trackTensor(tensor: Tensor, backend?: Backend): void;
  disposeTensor(tensor: Tensor): void;
  disposeVariable(variable: Variable): void;
  makeTensor(values: unknown, shape: number[], dtype?: string, backend?: Backend): Tensor;
  makeVariable(initial: Tensor, trainable?: boolean, name?: string, dtype?: string): Variable;
  moveData(backend: Backend, dataId: DataId): void;
  makeTensorFromTensorInfo(info: TensorInfo, backend?: Backend): Tensor;
  runKernel(kernelName: string, inputs: unknown, attrs?: unknown): Tensor | Tensor[];
  runKernelFunc(call: KernelCall): Tensor | Tensor[];
  nextTensorId(): number;
  startScope(name?: string): void;
  endScope(result?: unknown): void;
  track<T extends Tensor>(tensor: T): T;
  memory(): { numTensors: number; numBytes: number; numDataBuffers: number };
  reset(): void;
  keep<T extends Tensor>(tensor: T): T;
  removeDataId(dataId: DataId, backend: Backend): void;
}

/** How the scopes end that TensorFlow.js opens for each of its operations. */
export const OP_SUFFIX = '__op';

const holder = globalThis as { _tfengine?: Engine };

export function currentEngine(): Engine | undefined {
  return holder._tfengine;
}

/** Who waits for the engine. */
const waiting: Array<() => void> = [];

/** Calls back as soon as a copy of tfjs-core creates the engine, before anything can use it. */
export function onEngine(found: () => void): void {
  if (holder._tfengine != null) {
    found();
    return;
  }
  if (waiting.push(found) > 1) return;
  Object.defineProperty(globalThis, '_tfengine', {
    configurable: true,
    enumerable: true,
    get: () => undefined,
    set: (engine: Engine) => {
      Object.defineProperty(globalThis, '_tfengine', {
        value: engine,
        configurable: true,
        enumerable: true,
        writable: true,
      });
      for (const tell of waiting) tell();
    },
  });
}

export function isTensor(value: unknown): value is Tensor {
  const candidate = value as {
    data?: unknown;
    dataSync?: unknown;
    throwIfDisposed?: unknown;
  } | null;
  return (
    typeof candidate === 'object' &&
    candidate !== null &&
    candidate.data != null &&
    candidate.dataSync != null &&
    candidate.throwIfDisposed != null
  );
}

export function isVariable(tensor: Tensor): tensor is Variable {
  return typeof (tensor as Variable).assign === 'function';
}

/** A record with Ebb's fields in it from the start: fields added later would cost an allocation. */
export function newRecord(
  backend: Backend,
  dataId: DataId,
  dtype: string,
  shape: number[],
  bytes: number,
): DataRecord {
  return {
    backend,
    dtype,
    shape,
    bytes,
    ebbBooks: undefined,
    ebbDataId: dataId,
    ebbKey: 0,
    ebbSlot: -1,
  };
}

/** What `trackTensor` does before it tracks: counts the tensor, and finds or makes its data's record. */
export function recordOf(engine: Engine, tensor: Tensor, backend?: Backend): DataRecord {
  const { state } = engine;
  const { dtype, dataId } = tensor;
  state.numTensors++;
  if (dtype === 'string') state.numStringTensors++;
  const bytes = countedBytes(dtype, tensor.size);
  state.numBytes += bytes;
  let record = state.tensorInfo.get(dataId);
  if (record === undefined) {
    state.numDataBuffers++;
    record = newRecord(backend || engine.backend, dataId, dtype, tensor.shape, bytes);
    state.tensorInfo.set(dataId, record);
  } else if (record.ebbKey === undefined) {
    Object.assign(record, { ebbDataId: dataId, ebbKey: 0, ebbSlot: -1 });
  }
  return record;
}

/** What `tf.memory()` counts for a tensor: complex numbers by their parts, strings when their values are known. */
export function countedBytes(dtype: string, size: number): number {
  return dtype === 'complex64' ? 0 : bytesOf(dtype, size);
}

/** Bytes of a tensor's data. Strings are counted once their values are known. */
export function bytesOf(dtype: string, size: number): number {
  switch (dtype) {
    case 'bool':
      return size;
    case 'complex64':
      return size * 8;
    case 'string':
      return 0;
    default:
      return size * 4;
  }
}
