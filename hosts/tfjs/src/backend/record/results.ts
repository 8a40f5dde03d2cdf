// What a recorded function returns: what of it can be made again in each call, and how.
import { types } from 'node:util';
import type { Tensor } from '@tensorflow/tfjs-core';
import { EbbError } from '../../errors';
import { copyOf, type Form, formOf } from './values';

type Odd = { then?: unknown; next?: unknown; [Symbol.iterator]?: unknown } & {
  [Symbol.asyncIterator]?: unknown;
};

/** What cannot be given once more, as an error names it; empty: this can. */
function nameOfOnce(value: unknown): string {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return '';
  const odd = value as Odd;
  if (typeof odd.then === 'function') return 'a promise';
  if (types.isMap(value)) return 'a Map';
  if (types.isSet(value)) return 'a Set';
  if (typeof odd.next !== 'function') return '';
  const isIterator = Symbol.iterator in odd || Symbol.asyncIterator in odd;
  return isIterator ? 'an iterator, as a generator is' : '';
}

function onceIn(form: Form): string {
  if (form.kind === 'plain') return nameOfOnce(form.value);
  if (!('parts' in form)) return '';
  const then = form.kind === 'object' ? form.parts[form.names.indexOf('then')] : undefined;
  if (then?.kind === 'plain' && typeof then.value === 'function') return 'a promise';
  return form.parts.reduce((found, part) => found || onceIn(part), '');
}

/** Promises of a call that is refused have nobody who could wait for them. */
function silence(form: Form): void {
  if ('parts' in form) form.parts.forEach(silence);
  if (form.kind !== 'plain') return;
  const { value } = form;
  if (types.isPromise(value)) value.catch(() => undefined);
  const isKept = types.isMap(value) || types.isSet(value);
  if (isKept) for (const each of value.values()) silence(formOf(each, []));
}

/** The same, with copies of plain data that the first caller may write to. */
function withOwnBytes(form: Form): Form {
  if ('parts' in form) return { ...form, parts: form.parts.map(withOwnBytes) };
  if (form.kind !== 'plain') return form;
  const { value } = form;
  const isBytes = ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
  return isBytes ? { kind: 'bytes', value: copyOf(value) } : form;
}

/** The form of what a function returned, with its tensors at the end of the list. */
export function formOfResult(name: string, result: unknown, tensors: Tensor[]): Form {
  const form = formOf(result, tensors);
  const once = onceIn(form);
  if (once === '') return withOwnBytes(form);
  silence(form);
  const allowed = once === 'a promise' ? 'functions that are done when they return' : RESULTS;
  throw new EbbError('EBB_UNSUPPORTED', `[record] "${name}" returns ${once}; allowed: ${allowed}.`);
}

const RESULTS = 'tensors, arrays and plain objects of them, values that may be given again';

/** Which of a function's tensors it made and kept (`tf.keep`). */
export const keptOf = (tensors: readonly Tensor[], firstId: number): number[] =>
  tensors.flatMap(({ kept, id }, i) => (kept && id >= firstId ? [i] : []));
