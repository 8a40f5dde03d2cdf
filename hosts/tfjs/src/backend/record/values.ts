// Arguments and results of recorded functions: tensors, arrays and objects of them, plain values.
import type { Tensor } from '@tensorflow/tfjs-core';
import { isTensor, isVariable, type Variable } from '../../engine/tfjs';
import { EbbError } from '../../errors';

/** Something with tensors in it, with these taken out. */
export type Form =
  | { kind: 'tensor'; at: number }
  | { kind: 'variable'; variable: Variable }
  | ({ kind: 'array'; parts: Form[] } & Whole)
  | ({ kind: 'object'; names: string[]; parts: Form[] } & Whole)
  /** Of an array: not the same as undefined. */
  | { kind: 'hole' }
  /** A result of plain data that the caller may write to: a new one each time. */
  | { kind: 'bytes'; value: Bytes }
  | { kind: 'plain'; value: unknown };

interface Whole {
  /** The array or object where it is compared by identity, too. */
  whole?: object;
}

/** How a property of an object is read. */
export type Read = (of: Record<string, unknown>, name: string) => unknown;
const readNow: Read = (of, name) => of[name];

export type Bytes = ArrayBufferView | ArrayBuffer;

const { slice } = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

export function copyOf(bytes: Bytes): Bytes {
  if (!ArrayBuffer.isView(bytes)) return bytes.slice(0);
  // Not its own slice: that of a Buffer gives a view.
  if (!(bytes instanceof DataView)) return slice.call(bytes as Uint8Array);
  const { buffer, byteOffset, byteLength } = bytes;
  return new DataView(buffer.slice(byteOffset, byteOffset + byteLength));
}

const asTensor = (value: unknown): Tensor | undefined =>
  isTensor(value) ? (value as unknown as Tensor) : undefined;

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype || prototype === null || isPrototypeOfAll(prototype);
}

/** Object.prototype, of whichever realm. */
const isPrototypeOfAll = (prototype: object): boolean =>
  Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');

/**
 * Takes the tensors out, each once, in the order of their first places. Variables stay: they are the same in each call.
 * `around` has the arrays and objects that the value is within.
 */
export function formOf(
  value: unknown,
  tensors: Tensor[],
  read = readNow,
  around = new Set<object>(),
): Form {
  const tensor = asTensor(value);
  if (tensor !== undefined) {
    const own = tensor as unknown as Variable;
    if (isVariable(own)) return { kind: 'variable', variable: own };
    const known = tensors.indexOf(tensor);
    return { kind: 'tensor', at: known >= 0 ? known : tensors.push(tensor) - 1 };
  }
  if (!Array.isArray(value) && !isPlainObject(value)) return { kind: 'plain', value };
  if (around.has(value)) {
    throw new EbbError(
      'EBB_INVALID_ARGUMENT',
      '[record] Received an array or an object that is within itself; allowed: arrays and plain objects that end.',
    );
  }
  around.add(value);
  const form = Array.isArray(value)
    ? formOfArray(value, tensors, read, around)
    : formOfObject(value, tensors, read, around);
  around.delete(value);
  return form;
}

function formOfArray(value: unknown[], tensors: Tensor[], read: Read, around: Set<object>): Form {
  const partAt = (i: number): Form =>
    i in value ? formOf(value[i], tensors, read, around) : { kind: 'hole' };
  return { kind: 'array', parts: Array.from({ length: value.length }, (_, i) => partAt(i)) };
}

function formOfObject(
  value: Record<string, unknown>,
  tensors: Tensor[],
  read: Read,
  around: Set<object>,
): Form {
  const names = Object.keys(value);
  const parts = names.map((name) => formOf(read(value, name), tensors, read, around));
  return { kind: 'object', names, parts };
}

function filledArray(parts: readonly Form[], tensors: readonly Tensor[]): unknown[] {
  const all = new Array<unknown>(parts.length);
  parts.forEach((part, i) => {
    if (part.kind !== 'hole') all[i] = filled(part, tensors);
  });
  return all;
}

/** The value again, with these tensors in their places. */
export function filled(form: Form, tensors: readonly Tensor[]): unknown {
  switch (form.kind) {
    case 'tensor':
      return tensors[form.at];
    case 'variable':
      return form.variable;
    case 'array':
      return filledArray(form.parts, tensors);
    case 'object':
      return Object.fromEntries(
        form.names.map((name, i) => [name, filled(form.parts[i] as Form, tensors)]),
      );
    case 'hole':
      return undefined;
    case 'bytes':
      return copyOf(form.value);
    default:
      return form.value;
  }
}

/** Numbers for objects and symbols, so that a key can tell them apart; the engine holds both weakly. */
const identities = new WeakMap<object, number>();
let nextIdentity = 1;
export function identityOf(value: object | symbol): number {
  const one = value as object;
  let found = identities.get(one);
  if (found === undefined) identities.set(one, (found = nextIdentity++));
  return found;
}

/** Those that everybody gets by a text (`Symbol.for`) live for ever, and cannot be held weakly. */
function keyOfSymbol(symbol: symbol): string {
  const text = Symbol.keyFor(symbol);
  return text === undefined ? `#${identityOf(symbol)}` : `symbol:${JSON.stringify(text)}`;
}

/** By content: programs fill the same array again and again. */
function keyOfView(view: ArrayBufferView): string {
  const { buffer, byteOffset, byteLength } = view;
  // A buffer that was transferred is none any more.
  const bytes = byteLength === 0 ? Buffer.alloc(0) : Buffer.from(buffer, byteOffset, byteLength);
  return `${view.constructor.name} ${bytes.toString('base64')}`;
}

function keyOfPlain(value: unknown): string {
  switch (typeof value) {
    case 'object':
    case 'function':
      if (ArrayBuffer.isView(value)) return keyOfView(value);
      return value === null ? 'null' : `#${identityOf(value)}`;
    case 'string':
      return JSON.stringify(value);
    case 'symbol':
      return keyOfSymbol(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    default:
      return `${typeof value}:${String(value as boolean | bigint | undefined)}`;
  }
}

/** Of `this`: an object is the same where it is the same object, whatever it has inside. */
export const keyOfReceiver = (receiver: unknown): string =>
  typeof receiver === 'object' && receiver !== null
    ? `#${identityOf(receiver)}`
    : keyOfPlain(receiver);

const keyOfTensor = ({ dtype, shape }: Tensor, at: number): string =>
  `${dtype}[${shape.join()}]@${at}`;

const keyOfWhole = ({ whole }: Whole): string =>
  whole === undefined ? '' : `#${identityOf(whole)}`;

const keyOfName = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name));

/** Calls with the same key do the same: shapes, dtypes, which tensors are the same, constants. */
export function keyOf(form: Form, tensors: readonly Tensor[]): string {
  switch (form.kind) {
    case 'tensor':
      return keyOfTensor(tensors[form.at] as Tensor, form.at);
    case 'variable':
      return `variable #${identityOf(form.variable)}`;
    case 'array':
      return `[${form.parts.map((part) => keyOf(part, tensors)).join(', ')}]${keyOfWhole(form)}`;
    case 'object': {
      const { names, parts } = form;
      const keys = names.map(
        (name, i) => `${keyOfName(name)}: ${keyOf(parts[i] as Form, tensors)}`,
      );
      return `{${keys.join(', ')}}${keyOfWhole(form)}`;
    }
    case 'hole':
      return 'hole';
    default:
      return keyOfPlain(form.value);
  }
}
