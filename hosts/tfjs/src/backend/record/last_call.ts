// The key of the last call: a call that is like it has the same, and needs no text to be made.
import type { Tensor } from '@tensorflow/tfjs-core';
import { isTensor, isVariable, type Variable } from '../../engine/tfjs';
import { badArgument } from '../../errors';
import { sameShape } from '../data';
import { isOrdinaryArray } from './arguments';
import { type Form, formOf, isPlainObject, keyOf, type Read } from './values';

interface Likeness {
  dtype: Tensor['dtype'];
  shape: readonly number[];
}

export class LastCall {
  private readonly likenesses: Likeness[];
  readonly hasStrings: boolean;
  /** What the function depends on beside its arguments, and the key with that. */
  private more: unknown = undefined;
  private whole: string;
  /** What objects of the call that is compared had in their properties, in the order in which they were read. */
  private found: unknown[] | undefined = undefined;

  constructor(
    private readonly backend: object,
    private readonly receiver: unknown,
    private readonly key: string,
    readonly form: Form,
    tensors: readonly Tensor[],
  ) {
    this.likenesses = tensors.map(({ dtype, shape }) => ({ dtype, shape: shape.slice() }));
    this.hasStrings = tensors.some(({ dtype }) => dtype === 'string');
    this.whole = key;
  }

  /** The key of a call that depends on this too. */
  keyWith(more: unknown): string {
    if (isSamePlain(this.more, more)) return this.whole;
    this.more = more;
    return (this.whole = more === undefined ? this.key : `${this.key} ${keyOfMore(more)}`);
  }

  /** The tensors of a call that is like it, each once; undefined: it is not, or it takes more to tell. */
  tensorsOf(backend: object, receiver: unknown, args: unknown[]): Tensor[] | undefined {
    this.found = undefined;
    if (backend !== this.backend || receiver !== this.receiver) return undefined;
    const tensors: Tensor[] = [];
    if (!this.isLike(this.form, args, tensors)) return undefined;
    this.found = undefined;
    return tensors;
  }

  /** Reads arguments that are not alike in the same order: what was read is not read once more. */
  rest(): Read {
    const found = this.found ?? [];
    this.found = undefined;
    let at = 0;
    return (of, name) => (at < found.length ? found[at++] : of[name]);
  }

  private isLike(form: Form, value: unknown, tensors: Tensor[]): boolean {
    switch (form.kind) {
      case 'tensor':
        return this.isLikeTensor(form.at, value, tensors);
      case 'variable':
        return form.variable === value;
      case 'array':
        return isOrdinaryArray(value) && this.areLike(form, value, tensors);
      case 'object':
        return isPlainObject(value) && this.isLikeObject(form, value, tensors);
      case 'hole':
        return value === undefined;
      default:
        return isSamePlain(form.value, value);
    }
  }

  private areLike(
    { parts, whole }: Form & { kind: 'array' },
    values: unknown[],
    tensors: Tensor[],
  ): boolean {
    if (values.length !== parts.length || whole !== undefined) return false;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] as Form;
      const value = values[i];
      if (value === undefined && i in values === (part.kind === 'hole')) return false;
      if (!this.isLike(part, value, tensors)) return false;
    }
    return true;
  }

  private isLikeObject(
    { names, parts, whole }: Form & { kind: 'object' },
    value: Record<string, unknown>,
    tensors: Tensor[],
  ): boolean {
    if (whole !== undefined) return false;
    const found = (this.found ??= []);
    let at = 0;
    for (const name in value) {
      if (at === names.length || name !== names[at]) return false;
      const inside = value[name];
      found.push(inside);
      if (!this.isLike(parts[at++] as Form, inside, tensors)) return false;
    }
    return at === names.length;
  }

  private isLikeTensor(at: number, value: unknown, tensors: Tensor[]): boolean {
    if (at < tensors.length) return tensors[at] === value;
    if (!isTensor(value) || isVariable(value as Variable)) return false;
    const tensor = value as unknown as Tensor;
    if (tensors.includes(tensor)) return false;
    const then = this.likenesses[at] as Likeness;
    tensors.push(tensor);
    return tensor.dtype === then.dtype && sameShape(tensor.shape, then.shape);
  }
}

function keyOfMore(more: unknown): string {
  const tensors: Tensor[] = [];
  const form = formOf(more, tensors);
  if (tensors.length === 0) return keyOf(form, tensors);
  throw badArgument('record: key', tensors[0], 'a function that gives plain values, no tensors');
}

/** What an array or an object has inside may be another now. */
function isSamePlain(then: unknown, now: unknown): boolean {
  const isValue = typeof now !== 'object' || now === null;
  return isValue && Object.is(then, now);
}
