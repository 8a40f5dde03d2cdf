// What stands behind a tensor of backend `ebb`.
import type { DataType } from '@tensorflow/tfjs-core';

interface View {
  readonly shape: readonly number[];
  readonly handle: number;
}

/**
 * One piece of data: TensorFlow.js's data id, and at the same time what a kernel returns, so that a result
 * is one object. Its native tensor has `shape`; tensors of other shapes over the same data
 * (reshape) get views, made when a kernel first asks for them.
 */
export class EbbData {
  readonly dataId: EbbData;
  refCount = 1;
  /** Text has no native tensor: its values stay here. */
  strings: Uint8Array[] | undefined = undefined;
  views: View[] | undefined = undefined;

  constructor(
    /** The native tensor; 0 where there is none: text, and data that has moved to another backend. */
    public handle: number,
    public shape: number[],
    public dtype: DataType,
  ) {
    this.dataId = this;
  }
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  const rank = a.length;
  if (rank !== b.length) return false;
  for (let i = 0; i < rank; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function sizeOf(shape: readonly number[]): number {
  let size = 1;
  for (let i = 0; i < shape.length; i++) size *= shape[i] as number;
  return size;
}

/** The core's numbers for the dtypes of TensorFlow.js (ebb_dtype). */
const CODES: Record<string, number> = { float32: 1, int32: 2, bool: 3, complex64: 4 };
export const DTYPES: readonly DataType[] = ['float32', 'float32', 'int32', 'bool', 'complex64'];

export function codeOf(dtype: DataType): number {
  return CODES[dtype] as number;
}

/** A typed array that a tensor's content fits into. */
export function emptyValues(dtype: DataType, size: number): Float32Array | Int32Array | Uint8Array {
  switch (dtype) {
    case 'int32':
      return new Int32Array(size);
    case 'bool':
      return new Uint8Array(size);
    case 'complex64':
      return new Float32Array(size * 2);
    default:
      return new Float32Array(size);
  }
}

type Numbers = Float32Array | Int32Array | Uint8Array;

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
