// `require('ebb-tfjs/jest')` in a test or in `setupFilesAfterEnv`: `await expect(fn).toLeaveNoTensors()`.
import '../node/addon';
import { type EbbMatchers, matchers } from './matchers';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- where jest's types are extended
  namespace jest {
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-unused-vars
    interface Matchers<R, T = unknown> extends EbbMatchers {}
  }
}

const { expect } = globalThis as { expect?: { extend(all: typeof matchers): void } };
if (expect === undefined)
  throw new Error(
    '[ebb-tfjs/jest] There is no expect here; load it in a test of jest, or in setupFilesAfterEnv.',
  );
expect.extend(matchers);
