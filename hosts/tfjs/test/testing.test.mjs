// What users' tests check with: the assertions for node:test. jest and vitest: runners/cases/matchers.*
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { leavesNoTensors, staysWithin } from 'ebb-tfjs/node-test';
import { ebb, tf, use } from './support.mjs';

before(async () => {
  await use('wasm');
  ebb.reclaim.on();
});

test('what is left behind is named; warm-ups do not count', async () => {
  const held = [];
  await leavesNoTensors(() => tf.tidy(() => tf.zeros([3]).add(1).dataSync()));
  await assert.rejects(
    leavesNoTensors(() => held.push(tf.zeros([3]))),
    { name: 'AssertionError', message: /1 tensor left behind:\n.*testing\.test\.mjs:\d+/ },
  );
  const cached = () => held[2] ?? (held[2] = tf.zeros([3]));
  await leavesNoTensors(cached, { warmups: 1 });
  await assert.rejects(leavesNoTensors(async () => void (held[3] = tf.zeros([3]))));
  tf.dispose(held);
});

test('how much is needed at once', async () => {
  const held = [];
  const often = () => {
    for (let i = 0; i < 20; i++) tf.zeros([512, 1024]).dispose();
  };
  await staysWithin(often, '4MB');
  await staysWithin(() => tf.zeros([256, 1024]), 2 ** 20, { warmups: 2 });
  await assert.rejects(
    staysWithin(() => held.push(tf.zeros([1024, 1024])), '1MB'),
    { message: /Tensors took 4\.00 MB more than before; allowed: 1\.00 MB/ },
  );
  tf.dispose(held);
});

test("errors of the function are the function's; arguments are checked", async () => {
  const broken = async () => {
    throw new RangeError('mine');
  };
  await assert.rejects(leavesNoTensors(broken), RangeError);
  await assert.rejects(staysWithin(broken, '1MB'), RangeError);
  const allowed = { code: 'EBB_INVALID_ARGUMENT', message: /allowed:/ };
  const nothing = () => {};
  for (const promise of [
    leavesNoTensors(7),
    leavesNoTensors(nothing, { warmups: -1 }),
    leavesNoTensors(nothing, { warmup: 1 }),
    leavesNoTensors(nothing, { reachableOnly: 1 }),
    staysWithin(nothing),
    staysWithin(nothing, 'much'),
    staysWithin(nothing, '1MB', { warmups: 0.5 }),
  ])
    await assert.rejects(promise, allowed);
});
