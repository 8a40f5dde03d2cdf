// A tensor whose `data()` is pending is in use, though nobody may hold it: TensorFlow.js keeps only its
// data id until the backend answers.
import type { Tensor } from './tfjs';

type Read = (this: Tensor, ...args: unknown[]) => Promise<unknown>;
type Prototype = Record<'data' | 'bytes', Read>;

const pending = new Set<object>();
const patched = new WeakSet<object>();
/** The classes seen last: a tensor's and a variable's, which take turns in training. */
let last: unknown;
let lastButOne: unknown;

/** Makes sure that reads of this tensor hold it; each copy of tfjs-core brings a class of its own. */
export function holdWhileRead(tensor: Tensor): void {
  const { constructor } = tensor;
  if (constructor === last || constructor === lastButOne) return;
  lastButOne = last;
  last = constructor;
  const owner = ownerOf(Object.getPrototypeOf(tensor) as object, 'data');
  if (owner === undefined || patched.has(owner)) return;
  patched.add(owner);
  wrap(owner as Prototype, 'data');
  wrap(owner as Prototype, 'bytes');
}

function ownerOf(prototype: object | null, name: string): object | undefined {
  while (prototype !== null && !Object.hasOwn(prototype, name)) {
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return prototype ?? undefined;
}

function wrap(prototype: Prototype, name: 'data' | 'bytes'): void {
  const read = prototype[name];
  if (typeof read !== 'function') return;
  prototype[name] = function (...args) {
    const hold = { tensor: this };
    pending.add(hold);
    const done = (): void => void pending.delete(hold);
    const values = read.apply(this, args);
    values.then(done, done);
    return values;
  };
}
