// What stands behind a tensor of backend `ebb`.
import type { DataType } from '@tensorflow/tfjs-core';
import { bytesOf, type OwnData, type Tensor } from '../engine/tfjs';
import { DTYPE_CODES } from './table';

/**
 * One piece of data: TensorFlow.js's data id, and at the same time what a kernel returns, so that a result
 * is one object. Its native tensor has `shape`; tensors of other shapes over the same data (reshape) are passed to
 * an operation with theirs.
 */
export class EbbData implements OwnData {
  readonly dataId: EbbData;
  refCount = 1;
  slot = -1;
  first: Tensor | undefined = undefined;
  /** Text has no native tensor: its values stay here. */
  strings: Uint8Array[] | undefined = undefined;
  /** A recorded function has it as a constant: it gets no other values. */
  isConstant = false;
  /** The runtime of another device than the CPU, where the data is on one. */
  home: object | undefined = undefined;

  constructor(
    /** The native tensor; 0 where there is none: text, and data that has moved to another backend. */
    public handle: number,
    public shape: number[],
    public dtype: DataType,
  ) {
    this.dataId = this;
  }

  /** As the data ids of other backends: nothing of it is a value. */
  toJSON(): object {
    return {};
  }
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  const rank = a.length;
  if (rank !== b.length) return false;
  for (let i = 0; i < rank; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** True for [1, ...shape] and a shape of matrices. */
export function isOneMore(longer: readonly number[], shape: readonly number[]): boolean {
  const rank = shape.length;
  if (longer.length !== rank + 1 || longer[0] !== 1 || rank < 2) return false;
  for (let i = 0; i < rank; i++) if (longer[i + 1] !== shape[i]) return false;
  return true;
}

export function sizeOf(shape: readonly number[]): number {
  let size = 1;
  for (let i = 0; i < shape.length; i++) size *= shape[i] as number;
  return size;
}

/** The core's numbers for the dtypes of TensorFlow.js (ebb_dtype). */
const CODES: Record<string, number> = DTYPE_CODES;
export const DTYPES: readonly DataType[] = ['float32', 'float32', 'int32', 'bool', 'complex64'];

export function codeOf(dtype: DataType): number {
  return CODES[dtype] as number;
}

type Numbers = Float32Array | Int32Array | Uint8Array;

/** A typed array of zeros that a tensor's content fits into. */
export function zeros(dtype: DataType, size: number): Numbers {
  return arrayOver(dtype, size, undefined);
}

/** From this many bytes on, not writing zeros first is worth a detour. */
const LARGE = 1 << 14;

/** One whose content is about to be written. */
export function unwritten(dtype: DataType, size: number): Numbers {
  const bytes = bytesOf(dtype, size);
  return arrayOver(
    dtype,
    size,
    bytes < LARGE ? undefined : (Buffer.allocUnsafeSlow(bytes).buffer as ArrayBuffer),
  );
}

function arrayOver(dtype: DataType, size: number, memory: ArrayBuffer | undefined): Numbers {
  switch (dtype) {
    case 'int32':
      return memory === undefined ? new Int32Array(size) : new Int32Array(memory);
    case 'bool':
      return memory === undefined ? new Uint8Array(size) : new Uint8Array(memory);
    case 'complex64':
      return memory === undefined ? new Float32Array(size * 2) : new Float32Array(memory);
    default:
      return memory === undefined ? new Float32Array(size) : new Float32Array(memory);
  }
}

/** The values as the native tensor has them: mostly the array that was given. */
export function nativeValues(dtype: DataType, values: ArrayLike<number>): Numbers {
  switch (dtype) {
    case 'int32':
      return values instanceof Int32Array ? values : Int32Array.from(values);
    case 'bool':
      return values instanceof Uint8Array ? values : Uint8Array.from(values);
    default:
      return values instanceof Float32Array ? values : Float32Array.from(values);
  }
}
