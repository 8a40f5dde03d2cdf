// A tensor whose `data()` is pending is in use, though nobody may hold it: TensorFlow.js keeps only its
// data id until the backend answers.
import type { Tensor } from './tfjs';

type Read = (this: Tensor, ...args: unknown[]) => Promise<unknown>;
type Prototype = Record<'data' | 'bytes', Read>;

const pending = new Set<object>();

/** Makes sure that reads of this class's tensors hold them. */
export function holdWhileRead(prototype: object): void {
  wrap(prototype as Prototype, 'data');
  wrap(prototype as Prototype, 'bytes');
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
