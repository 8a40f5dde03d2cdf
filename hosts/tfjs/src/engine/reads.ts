// A tensor whose `data()` is pending is in use, though nobody may hold it: TensorFlow.js keeps only its
// data id until the backend answers.
import type { Faults } from './faults';
import type { Tensor } from './tfjs';

type Read = (this: Tensor, ...args: unknown[]) => Promise<unknown>;
type Prototype = Record<'data' | 'bytes', Read> & { dataSync?: (this: Tensor) => unknown };

const pending = new Set<object>();

/** Makes sure that reads of this class's tensors hold them. */
export function holdWhileRead(prototype: object, faults: Faults): void {
  wrap(prototype as Prototype, 'data', faults);
  wrap(prototype as Prototype, 'bytes', faults);
  wrapSync(prototype as Prototype, faults);
}

function wrap(prototype: Prototype, name: 'data' | 'bytes', faults: Faults): void {
  const read = prototype[name];
  if (typeof read !== 'function') return;
  prototype[name] = function (...args) {
    const hold = { tensor: this };
    pending.add(hold);
    const done = (): void => void pending.delete(hold);
    const values = read.apply(this, args);
    values.then(done, done);
    return faults.watching ? values.then((got) => checked(got, faults)) : values;
  };
}

/** Values of a GPU that has failed meanwhile are not given out. */
function checked<T>(values: T, faults: Faults): T {
  faults.lookClosely();
  return values;
}

function wrapSync(prototype: Prototype, faults: Faults): void {
  const { dataSync } = prototype;
  if (typeof dataSync !== 'function') return;
  prototype.dataSync = function () {
    const values = dataSync.call(this);
    return faults.watching ? checked(values, faults) : values;
  };
}
