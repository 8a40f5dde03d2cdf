// The key of the last call: a call that is like it has the same, and needs no text to be made.
import type { Tensor } from '@tensorflow/tfjs-core';
import { isTensor, isVariable, type Variable } from '../../engine/tfjs';
import { badArgument } from '../../errors';
import { sameShape } from '../data';
import { hasMore, isOrdinaryArray } from './arguments';
import { type Form, formOf, isPlainObject, keyOf, type Read } from './values';

interface Likeness {
  dtype: Tensor['dtype'];
  shape: readonly number[];
}

/** A call while it is compared with the last one. */
export class Compared {
  readonly tensors: Tensor[] = [];
  /** What objects had in their properties, in the order in which they were read. */
  readonly found: unknown[] = [];
  constructor(
    readonly backend: object,
    readonly receiver: unknown,
    readonly args: unknown[],
  ) {}

  /** Reads arguments that are not alike in the same order: what was read is not read once more. */
  rest(): Read {
    let at = 0;
    return (of, name) => (at < this.found.length ? this.found[at++] : of[name]);
  }
}

export class LastCall {
  private readonly likenesses: Likeness[];
  readonly hasStrings: boolean;
  /** What the function depends on beside its arguments, and the key with that. */
  private more: unknown = undefined;
  private whole: string;

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
  tensorsOf(call: Compared): Tensor[] | undefined {
    if (call.backend !== this.backend || !Object.is(call.receiver, this.receiver)) return undefined;
    const { parts } = this.form as Form & { kind: 'array' };
    return this.areLike(parts, call.args, call) ? call.tensors : undefined;
  }

  private isLike(form: Form, value: unknown, call: Compared): boolean {
    switch (form.kind) {
      case 'tensor':
        return this.isLikeTensor(form.at, value, call.tensors);
      case 'variable':
        return form.variable === value;
      case 'array':
        return isOrdinaryArray(value) && this.isLikeArray(form, value, call);
      case 'object':
        return isPlainObject(value) && this.isLikeObject(form, value, call);
      case 'hole':
        return value === undefined;
      default:
        return isSamePlain(form.value, value);
    }
  }

  private areLike(parts: readonly Form[], values: unknown[], call: Compared): boolean {
    if (values.length !== parts.length) return false;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] as Form;
      const value = values[i];
      if (value === undefined && i in values === (part.kind === 'hole')) return false;
      if (!this.isLike(part, value, call)) return false;
    }
    return true;
  }

  private isLikeArray(form: Form & { kind: 'array' }, value: unknown[], call: Compared): boolean {
    if (value.length !== form.parts.length || form.whole !== undefined) return false;
    return !hasMore(form, value) && this.areLike(form.parts, value, call);
  }

  private isLikeObject(
    form: Form & { kind: 'object' },
    value: Record<string, unknown>,
    call: Compared,
  ): boolean {
    const { names, parts, whole } = form;
    if (whole !== undefined || hasMore(form, value)) return false;
    let at = 0;
    for (const name in value) {
      if (at === names.length || name !== names[at]) return false;
      const inside = value[name];
      call.found.push(inside);
      if (!this.isLike(parts[at++] as Form, inside, call)) return false;
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
