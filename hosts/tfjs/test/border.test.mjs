// The random program of soak/border.mjs for a moment, and what it found.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { border } from '../soak/border.mjs';
import { ebb, tf, values } from './backend_support.mjs';

test('any call in any order, with any object', async () => {
  const { calls, refused } = await border(4221, { calls: 1200, seconds: 20 });
  assert.ok(refused > 0 && refused < calls, `${refused} of ${calls} refused`);
});

test('a number of results that is none', () => {
  const x = tf.tensor1d([1, 2, 3, 4], 'int32');
  for (const outputRaggedRank of [undefined, NaN, 'x', Infinity, -2, 0.5, 2 ** 31, 2 ** 53]) {
    const inputs = { paramsNestedSplits: [x], paramsDenseValues: x, indices: x };
    const gather = () => tf.engine().runKernel('RaggedGather', inputs, { outputRaggedRank });
    assert.throws(() => tf.tidy(gather), Error);
    const sum = tf.add(x, 1);
    assert.deepEqual(values(sum), [2, 3, 4, 5]);
    sum.dispose();
  }
  x.dispose();
  ebb.audit();
});
