// `ebb.record(fn)`: what the caller gets in fn's place.
import type { RecordedInfo } from './known';
import type { RecordOptions } from './options';
import { type Fn, Recorded } from './recorded';

/** What a recorded function has beside the function's own. */
export interface RecordedFunction {
  /** What a report says of it. */
  info(): RecordedInfo;
  /** Forgets its recordings, and ends what they keep. A later call is recorded again. */
  dispose(): void;
}

const withHandles = (call: Fn, recorded: Recorded): Fn & RecordedFunction =>
  Object.assign(call, { info: () => recorded.info(), dispose: () => recorded.dispose() });

/** A function that does what fn does: at first through TensorFlow.js, then by one call of the core. */
export function recordFunction(fn: Fn, options: RecordOptions): Fn & RecordedFunction {
  const recorded = new Recorded(fn, options);
  const call = function (this: unknown, ...args: unknown[]): unknown {
    return recorded.call(this, args);
  };
  for (const like of ['name', 'length'] as const) {
    Object.defineProperty(call, like, { value: fn[like], configurable: true });
  }
  return withHandles(call, recorded);
}

/** The same where fn makes nothing of `this`, and options may be others later. */
export function recordBound(
  fn: Fn,
  options: RecordOptions,
): Fn & RecordedFunction & Pick<Recorded, 'set'> {
  const recorded = new Recorded(fn, options);
  const call = (...args: unknown[]): unknown => recorded.call(undefined, args);
  return Object.assign(withHandles(call, recorded), {
    set: (more: RecordOptions) => recorded.set(more),
  });
}
