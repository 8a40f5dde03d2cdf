// Gradients with the core's tape and without it, compared.
import assert from 'node:assert/strict';
import { ebb, tf, values } from './backend_support.mjs';

/** What run() does with the tape on, and with it off; `native`: how many gradients were the core's. */
export function bothWays(run) {
  const before = ebb.tape.info();
  const ours = attempt(run);
  const native = ebb.tape.info().native - before.native;
  ebb.tape.off();
  try {
    return { ours, theirs: attempt(run), native };
  } finally {
    ebb.tape.on();
  }
}

export function attempt(run) {
  try {
    return { value: run() };
  } catch (error) {
    return { error: error.message };
  }
}

export const near = (a, b) =>
  Object.is(a, b) || Math.abs(a - b) <= 1e-5 + 1e-4 * Math.max(Math.abs(a), Math.abs(b));

export function assertSame({ ours, theirs }) {
  assert.equal(ours.error, theirs.error);
  assert.equal(ours.value?.length, theirs.value?.length);
  for (const [i, one] of (ours.value ?? []).entries()) {
    const other = theirs.value[i];
    assert.equal(one.length, other.length);
    assert.ok(
      one.every((each, k) => near(each, other[k])),
      `gradient ${i}: ${one} but ${other}`,
    );
  }
}

/** The values of what a function gives, in one list each. */
export const numbers = (run) => () => {
  const all = tf.tidy(() => [run()].flat());
  const lists = all.map(values);
  tf.dispose(all);
  return lists;
};
