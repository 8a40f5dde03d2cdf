// What the tests of backend `ebb` need: TensorFlow.js as `ebb-tfjs/backend` gives it, and the law after each.
import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';
import { createRequire } from 'node:module';
import { collecting } from './collecting.mjs';

export const require = createRequire(import.meta.url);
export const tf = require('ebb-tfjs/backend');
export const ebb = require('ebb-tfjs');

assert.equal(tf.backend().constructor.name, 'EbbBackend');

/** Every test leaves as many tensors and pieces of data as it found, and balanced books. */
export function leavesNothing() {
  let before;
  const now = () => [tf.memory().numTensors, tf.memory().numBytes, tf.backend().numDataIds()];
  beforeEach(() => (before = now()));
  afterEach(() => {
    assert.deepEqual(now(), before, 'tensors, bytes or data are left');
    ebb.audit();
  });
}

export const collected = collecting(tf, ebb);

export const values = (tensor) => Array.from(tensor.dataSync());

/** Runs and gives back everything but numbers. */
export const tidyValues = (run) => {
  const result = tf.tidy(run);
  const all = values(result);
  result.dispose();
  return all;
};
