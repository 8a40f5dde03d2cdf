// `.safetensors` files: named tensors, as C++ programs on Ebb (docs/nn.md), PyTorch and others write them.
import * as tf from '@tensorflow/tfjs';
import { readFile } from 'node:fs/promises';
import { EbbError } from '../errors';

/** What a file holds. The tensors are yours to dispose. */
export interface SafeTensors {
  tensors: tf.NamedTensorMap;
  metadata: Record<string, string>;
}

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

const LENGTH_BYTES = 8;
const MOST_HEADER = 100_000_000; // the format's own limit

const refuse = (path: string, why: string): never => {
  throw new EbbError('EBB_INVALID_ARGUMENT', `[safetensors] ${path}: ${why}.`);
};

/** A float of 16 bits, by its sign, exponent and fraction. */
function half(bits: number): number {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The upper half of a float of 32 bits. */
const brain = (words: Uint16Array): Float32Array =>
  new Float32Array(Uint32Array.from(words, (word) => word << 16).buffer);

type Values = Float32Array | Int32Array | Uint8Array;
interface Form {
  bytes: number;
  dtype: 'float32' | 'int32' | 'bool';
  values: (data: ArrayBuffer) => Values;
}

const FORMS: Record<string, Form> = {
  F32: { bytes: 4, dtype: 'float32', values: (data) => new Float32Array(data) },
  F64: { bytes: 8, dtype: 'float32', values: (data) => new Float32Array(new Float64Array(data)) },
  F16: {
    bytes: 2,
    dtype: 'float32',
    values: (data) => Float32Array.from(new Uint16Array(data), half),
  },
  BF16: { bytes: 2, dtype: 'float32', values: (data) => brain(new Uint16Array(data)) },
  I32: { bytes: 4, dtype: 'int32', values: (data) => new Int32Array(data) },
  I16: { bytes: 2, dtype: 'int32', values: (data) => new Int32Array(new Int16Array(data)) },
  I8: { bytes: 1, dtype: 'int32', values: (data) => new Int32Array(new Int8Array(data)) },
  U8: { bytes: 1, dtype: 'int32', values: (data) => new Int32Array(new Uint8Array(data)) },
  BOOL: { bytes: 1, dtype: 'bool', values: (data) => new Uint8Array(data) },
};

function parseHeader(file: Uint8Array, path: string): [Record<string, unknown>, Uint8Array] {
  if (file.length < LENGTH_BYTES)
    refuse(path, `it has ${file.length} bytes, 8 at least are needed`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = view.getBigUint64(0, true);
  if (length > BigInt(Math.min(MOST_HEADER, file.length - LENGTH_BYTES)))
    refuse(path, `a header of ${length} bytes does not fit`);
  const end = LENGTH_BYTES + Number(length);
  try {
    const header: unknown = JSON.parse(new TextDecoder().decode(file.subarray(LENGTH_BYTES, end)));
    if (typeof header === 'object' && header !== null)
      return [header as Record<string, unknown>, file.subarray(end)];
  } catch {
    // said below
  }
  return refuse(path, 'the header is no JSON object');
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** The values of an entry whose offsets fit its shape and the file. */
function valuesOf(path: string, name: string, entry: Entry, data: Uint8Array): [Form, Values] {
  const form =
    FORMS[entry.dtype] ?? refuse(path, `'${name}' is ${entry.dtype}, which TensorFlow.js lacks`);
  const [begin, end] = entry.data_offsets;
  const elements = entry.shape.reduce((product, extent) => product * extent, 1);
  const fits = [begin, end, ...entry.shape].every(isCount) && end <= data.length;
  if (!fits || end - begin !== elements * form.bytes)
    refuse(
      path,
      `'${name}' is at ${begin} to ${end}, which does not fit [${entry.shape.join()}] or the file`,
    );
  return [form, form.values(data.slice(begin, end).buffer)];
}

function isEntry(value: unknown): value is Entry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Partial<Entry>;
  return (
    typeof dtype === 'string' &&
    Array.isArray(shape) &&
    Array.isArray(offsets) &&
    offsets.length === 2
  );
}

/**
 * ```js
 * const { tensors } = await tf.io.loadSafetensors('model.safetensors');
 * model.loadWeights(tensors); // a layers model whose layers have the file's names: 'conv1/kernel'
 * ```
 */
export async function loadSafetensors(path: string): Promise<SafeTensors> {
  // A plain array: a slice of it is a copy, a Buffer's is not.
  const [header, data] = parseHeader(new Uint8Array(await readFile(path)), path);
  const { __metadata__: metadata = {}, ...entries } = header;
  const read = Object.entries(entries).map(([name, entry]) => {
    if (!isEntry(entry)) return refuse(path, `'${name}' is no tensor`);
    return { name, shape: entry.shape, found: valuesOf(path, name, entry, data) };
  });
  const tensors: tf.NamedTensorMap = {};
  for (const { name, shape, found } of read)
    tensors[name] = tf.tensor(found[1], shape, found[0].dtype);
  return { tensors, metadata: metadata as Record<string, string> };
}
