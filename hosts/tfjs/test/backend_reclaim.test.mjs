// Reclaim, budgets and async tidy over backend `ebb`: to the byte, in TensorFlow.js's books, Ebb's and the pool's.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { collected, ebb, tf, values } from './backend_support.mjs';

before(() => ebb.reclaim.on());

const MB = 2 ** 20;
/** The memory beneath: what is in use of it, and the most that was taken from the system. */
const pool = () => {
  const device = ebb.report({ json: true }).devices.find(({ kind }) => kind === 'system');
  return { inUse: device.in_use, peak: device.peak_committed };
};

test('what is dropped comes back to the pool, to the byte', async () => {
  await collected();
  const start = { tfjs: tf.memory().numBytes, books: ebb.memory().liveBytes, pool: pool().inUse };
  const held = tf.ones([64, 1024]);
  const bytes = 64 * 1024 * 4;
  (() => {
    for (let i = 0; i < 50; i++) tf.add(held, i).relu().reshape([1024, 64]);
  })();
  await collected();
  assert.equal(tf.memory().numBytes, start.tfjs + bytes);
  assert.equal(ebb.memory().liveBytes, start.books + bytes);
  assert.equal(pool().inUse, start.pool + bytes);
  held.dispose();
  assert.equal(pool().inUse, start.pool);
  ebb.audit();
});

test('a careless loop stays within 1.25 x its budget', () => {
  const before = pool().peak;
  ebb.budget('64MB');
  const x = tf.ones([256, 1024]);
  for (let i = 0; i < 500; i++) tf.relu(tf.add(x, i)).reshape([1024, 256]);
  const { peak } = pool();
  assert.ok(peak <= Math.max(before, 80 * MB), `${(peak / MB).toFixed(1)} MB were committed`);
  x.dispose();
  ebb.budget('64GB');
});

test('trim gives cached memory back to the system, at most as much as it is told', async () => {
  await collected(); // what other tests dropped would come back in between
  tf.ones([64, 1024, 1024]).dispose();
  const before = ebb.report({ json: true }).devices.find(({ kind }) => kind === 'system').committed;
  assert.ok(ebb.trim('16MB') >= 16 * MB);
  assert.ok(ebb.trim() >= 128 * MB);
  const after = ebb.report({ json: true }).devices.find(({ kind }) => kind === 'system').committed;
  assert.ok(before - after >= 250 * MB, `${before} to ${after}`);
  assert.equal(ebb.trim(), 0);
  assert.throws(() => ebb.trim('lots'), /trim.*lots/s);
});

test('an async tidy ends what its function leaves, across awaits', async () => {
  await collected();
  const start = { tensors: tf.memory().numTensors, pool: pool().inUse };
  const result = await ebb.tidy(async () => {
    const a = tf.fill([1000], 2);
    await a.data();
    const b = a.mul(3);
    await b.data();
    return b.add(1);
  });
  assert.equal(tf.memory().numTensors, start.tensors + 1);
  assert.deepEqual(values(result), Array(1000).fill(7));
  result.dispose();
  assert.equal(pool().inUse, start.pool);
});

test('a report names the line that made what is held, with its bytes', () => {
  ebb.trace.on();
  const held = tf.fill([1024], 1);
  const text = ebb.report();
  assert.match(text, /backend_reclaim\.test\.mjs/);
  assert.match(text, /4\.00 KB +1 .*backend_reclaim/);
  ebb.trace.off();
  held.dispose();
});
