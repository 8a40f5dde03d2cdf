// A tensor whose `data()` is pending is in use, though nobody may hold it: TensorFlow.js keeps only its
// data id until the backend answers.
import type { Faults } from './faults';
import type { Tensor } from './tfjs';

type Read = (this: Tensor, ...args: unknown[]) => Promise<unknown>;
type Prototype = Record<'data' | 'bytes', Read> & { dataSync?: (this: Tensor) => unknown };

interface Hold {
  readonly tensor: Tensor;
  /** Gives up waiting for a GPU that is gone: webgl's reads would wait for ever. */
  fail?: (error: unknown) => void;
}

const pending = new Set<Hold>();

/** Makes sure that reads of this class's tensors hold them. */
export function holdWhileRead(prototype: object, faults: Faults): void {
  wrap(prototype as Prototype, 'data', faults);
  wrap(prototype as Prototype, 'bytes', faults);
  wrapSync(prototype as Prototype, faults);
  faults.onFault = (error) => {
    for (const hold of pending) {
      pending.delete(hold);
      hold.fail?.(error);
    }
  };
}

function wrap(prototype: Prototype, name: 'data' | 'bytes', faults: Faults): void {
  const read = prototype[name];
  if (typeof read !== 'function') return;
  prototype[name] = function (...args) {
    const failure = faults.failure();
    if (failure !== undefined) return Promise.reject(failure);
    const hold: Hold = { tensor: this };
    pending.add(hold);
    const done = (): void => void pending.delete(hold);
    const values = read.apply(this, args);
    values.then(done, done);
    return faults.watching ? guarded(values, hold, faults) : values;
  };
}

function guarded(values: Promise<unknown>, hold: Hold, faults: Faults): Promise<unknown> {
  return new Promise((resolve, reject) => {
    hold.fail = reject;
    values
      .then(
        (got) => resolve(checked(got, faults)),
        (error) => explained(error, faults),
      )
      .catch(reject);
  });
}

/** Values of a GPU that has failed meanwhile are not given out. */
function checked<T>(values: T, faults: Faults): T {
  faults.lookClosely();
  return values;
}

/** How long a device that is lost may take to say so after a read that failed. */
const LAST_WORDS_MS = 100;

async function explained(error: unknown, faults: Faults): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS));
  faults.look();
  throw error;
}

function wrapSync(prototype: Prototype, faults: Faults): void {
  const { dataSync } = prototype;
  if (typeof dataSync !== 'function') return;
  prototype.dataSync = function () {
    const values = dataSync.call(this);
    return faults.watching ? checked(values, faults) : values;
  };
}
