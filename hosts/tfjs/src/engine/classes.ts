// What Ebb changes in the class of tensors itself; each copy of tfjs-core brings one of its own.
import type { Sites } from '../books/sites';
import { nameDisposed } from './disposed';
import type { Faults } from './faults';
import { holdWhileRead } from './reads';
import type { Tensor } from './tfjs';

/** Marks a class as seen, whichever copy of this package has seen it. */
const SEEN = Symbol.for('ebb-tfjs.seen');
/** The classes seen last: a tensor's and a variable's, which take turns in training. */
let last: unknown;
let lastButOne: unknown;

/** Makes sure that this tensor's class is as Ebb needs it. */
export function seeClass(tensor: Tensor, sites: Sites, faults: Faults): void {
  const { constructor } = tensor;
  if (constructor === last || constructor === lastButOne) return;
  lastButOne = last;
  last = constructor;
  const prototype = ownerOf(Object.getPrototypeOf(tensor) as object, 'data');
  if (prototype === undefined || Object.hasOwn(prototype, SEEN)) return;
  Object.defineProperty(prototype, SEEN, { value: true });
  holdWhileRead(prototype, faults);
  nameDisposed(prototype, (site) => sites.text(site));
  makeDisposable(prototype);
}

/** `using x = tf.add(a, b)` ends x with its block, where the language has it. */
function makeDisposable(prototype: object): void {
  const { dispose: key } = Symbol as { dispose?: symbol };
  if (key === undefined || key in prototype) return;
  Object.defineProperty(prototype, key, {
    configurable: true,
    writable: true,
    value(this: Tensor) {
      this.dispose();
    },
  });
}

function ownerOf(prototype: object | null, name: string): object | undefined {
  while (prototype !== null && !Object.hasOwn(prototype, name)) {
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return prototype ?? undefined;
}
