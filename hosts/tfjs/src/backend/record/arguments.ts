// What a recorded function is given: read once in a call, and handed on as it is where no tensors are in it.
import type { Tensor } from '@tensorflow/tfjs-core';
import { filled, type Form, formOf, type Read } from './values';

type Composed = Form & { kind: 'array' | 'object' };
const isComposed = (form: Form): form is Composed => 'parts' in form;

const nameOfPart = (form: Composed, i: number): string =>
  form.kind === 'array' ? String(i) : (form.names[i] as string);

/** What is in a place without asking a getter; undefined: there is one. */
function dataAt(of: object, name: string): { value?: unknown } | undefined {
  const place = Object.getOwnPropertyDescriptor(of, name);
  return place !== undefined && 'value' in place ? place : undefined;
}

/** Every realm's Array.prototype is an array, that of a subclass is none. */
export const isOrdinaryArray = (value: unknown): value is unknown[] =>
  Array.isArray(value) && Array.isArray(Object.getPrototypeOf(value));

/** Whether there is more to it than its form says: symbols, properties that are not enumerable, a class. */
export function hasMore(form: Composed, value: object): boolean {
  const { length } = Reflect.ownKeys(value);
  if (form.kind === 'object') return length !== form.names.length;
  const filledPlaces = form.parts.filter(({ kind }) => kind !== 'hole').length;
  return length !== filledPlaces + 1 || !isOrdinaryArray(value);
}

/** Whether neither tensors nor getters are in it. */
function isPlainThrough(form: Form, value: unknown): boolean {
  if (form.kind === 'tensor') return false;
  if (!isComposed(form)) return true;
  return form.parts.every((part, i) => {
    if (part.kind === 'hole') return true;
    const data = dataAt(value as object, nameOfPart(form, i));
    return data !== undefined && isPlainThrough(part, data.value);
  });
}

/** Notes what is to be compared by identity, too: what is handed on as it is, and has more than its form. */
function noteWholes(form: Form, value: unknown): void {
  if (!isComposed(form)) return;
  if (hasMore(form, value as object) && isPlainThrough(form, value)) form.whole = value as object;
  form.parts.forEach((part, i) => {
    const data = dataAt(value as object, nameOfPart(form, i));
    if (data !== undefined) noteWholes(part, data.value);
  });
}

export function formOfArguments(args: unknown[], tensors: Tensor[], read?: Read): Form {
  const form = formOf(args, tensors, read);
  noteWholes(form, args);
  return form;
}

function handOn(form: Form, value: unknown, tensors: readonly Tensor[]): unknown {
  if (!isComposed(form)) return filled(form, tensors);
  if (isPlainThrough(form, value)) return value;
  const parts = form.parts.map((part, i): Form => {
    if (!isComposed(part)) return part;
    const data = dataAt(value as object, nameOfPart(form, i));
    return data === undefined ? part : { kind: 'plain', value: handOn(part, data.value, tensors) };
  });
  return filled({ ...form, parts }, tensors);
}

/** Arguments of this form with other tensors: what has none in it is the caller's own. */
export function handedOn(form: Form, args: unknown[], tensors: readonly Tensor[]): unknown[] {
  const { parts } = form as Composed;
  return parts.map((part, i) => handOn(part, args[i], tensors));
}
