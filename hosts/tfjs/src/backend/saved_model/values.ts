// TensorFlow's constants and variables as TensorFlow.js has them: its dtypes are fewer.
import type { DataType } from '@tensorflow/tfjs-core';
import { DT, nameOfDtype, type Shape, type TensorProto } from './proto';

export interface Values {
  dtype: DataType;
  shape: number[];
  values: Float32Array | Int32Array | Uint8Array | Buffer[];
}

export function dimsOf(shape: Shape | undefined): number[] {
  return (shape?.dim ?? []).map(({ size = 0 }) => size);
}

const sizeOf = (shape: number[]): number => shape.reduce((a, b) => a * b, 1);

/** float16 and bfloat16 as they are written, to numbers. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
}

const scratch = new DataView(new ArrayBuffer(4));
function brain(bits: number): number {
  scratch.setUint32(0, bits << 16);
  return scratch.getFloat32(0);
}

/** How a number of a dtype is read, and what it becomes. */
interface Numbers {
  dtype: 'float32' | 'int32' | 'bool' | 'complex64';
  bytes: number;
  read(bytes: Buffer, at: number): number;
}

const NUMBERS: Record<number, Numbers> = {
  [DT.DT_FLOAT]: { dtype: 'float32', bytes: 4, read: (from, at) => from.readFloatLE(at) },
  [DT.DT_DOUBLE]: { dtype: 'float32', bytes: 8, read: (from, at) => from.readDoubleLE(at) },
  [DT.DT_HALF]: { dtype: 'float32', bytes: 2, read: (from, at) => half(from.readUInt16LE(at)) },
  [DT.DT_BFLOAT16]: {
    dtype: 'float32',
    bytes: 2,
    read: (from, at) => brain(from.readUInt16LE(at)),
  },
  [DT.DT_INT32]: { dtype: 'int32', bytes: 4, read: (from, at) => from.readInt32LE(at) },
  [DT.DT_INT64]: { dtype: 'int32', bytes: 8, read: (from, at) => Number(from.readBigInt64LE(at)) },
  [DT.DT_INT16]: { dtype: 'int32', bytes: 2, read: (from, at) => from.readInt16LE(at) },
  [DT.DT_UINT16]: { dtype: 'int32', bytes: 2, read: (from, at) => from.readUInt16LE(at) },
  [DT.DT_INT8]: { dtype: 'int32', bytes: 1, read: (from, at) => from.readInt8(at) },
  [DT.DT_UINT8]: { dtype: 'int32', bytes: 1, read: (from, at) => from.readUInt8(at) },
  [DT.DT_BOOL]: { dtype: 'bool', bytes: 1, read: (from, at) => from.readUInt8(at) },
};

function arrayFor(dtype: Numbers['dtype'], size: number): Float32Array | Int32Array | Uint8Array {
  if (dtype === 'int32') return new Int32Array(size);
  return dtype === 'bool' ? new Uint8Array(size) : new Float32Array(size);
}

const LARGEST = 2 ** 31 - 1;
/** int64 is int32 in TensorFlow.js. A limit ("all of it") stays one. */
const fit = (value: number): number => Math.min(Math.max(value, -LARGEST - 1), LARGEST);

function numbersOf(dtype: number): Numbers {
  const found = NUMBERS[dtype];
  if (found === undefined) throw new Error(`${nameOfDtype(dtype)} is not supported`);
  return found;
}

export function valuesOfBytes(dtype: number, shape: number[], bytes: Buffer): Values {
  if (dtype === DT.DT_COMPLEX64) {
    const parts = valuesOfBytes(DT.DT_FLOAT, [...shape, 2], bytes);
    return { dtype: 'complex64', shape, values: parts.values };
  }
  const { dtype: becomes, bytes: width, read } = numbersOf(dtype);
  const size = sizeOf(shape);
  if (bytes.length !== size * width) throw new Error(`${bytes.length} bytes for [${shape}]`);
  const values = arrayFor(becomes, size);
  for (let i = 0; i < size; i++) {
    const value = read(bytes, i * width);
    values[i] = becomes === 'int32' ? fit(value) : value;
  }
  return { dtype: becomes, shape, values };
}

/** Where a tensor's numbers are, if not in its content. */
function listed(proto: TensorProto): number[] {
  switch (proto.dtype) {
    case DT.DT_FLOAT:
      return proto.floatVal ?? [];
    case DT.DT_DOUBLE:
      return proto.doubleVal ?? [];
    case DT.DT_INT64:
      return proto.int64Val ?? [];
    case DT.DT_BOOL:
      return proto.boolVal ?? [];
    case DT.DT_COMPLEX64:
      return proto.scomplexVal ?? [];
    case DT.DT_HALF:
      return (proto.halfVal ?? []).map(half);
    case DT.DT_BFLOAT16:
      return (proto.halfVal ?? []).map(brain);
    default:
      return proto.intVal ?? [];
  }
}

export function valuesOf(proto: TensorProto): Values {
  const { dtype = 0, tensorContent } = proto;
  const shape = dimsOf(proto.tensorShape);
  const size = sizeOf(shape);
  if (dtype === DT.DT_STRING) {
    const texts = proto.stringVal ?? [];
    const last = texts.at(-1) ?? Buffer.alloc(0);
    return {
      dtype: 'string',
      shape,
      values: Array.from({ length: size }, (_, i) => texts[i] ?? last),
    };
  }
  if (tensorContent !== undefined) return valuesOfBytes(dtype, shape, tensorContent);
  const isComplex = dtype === DT.DT_COMPLEX64;
  const becomes = isComplex ? 'complex64' : numbersOf(dtype).dtype;
  const given = listed(proto);
  const values = arrayFor(becomes, isComplex ? size * 2 : size);
  // The last number stands for all that are not there.
  const last = given.at(-1) ?? 0;
  for (let i = 0; i < values.length; i++) {
    const value = given[i] ?? (isComplex ? (given[i % 2] ?? 0) : last);
    values[i] = becomes === 'int32' ? fit(value) : value;
  }
  return { dtype: becomes, shape, values };
}
