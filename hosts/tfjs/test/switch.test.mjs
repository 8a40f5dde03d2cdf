// Item 10: off means off; on and off at any time; what was born before the first on() is unwatched.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertBooks, collected, ebb, sleep, tf, use } from './support.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** By which tensors come and go. */
const METHODS = [
  'trackTensor',
  'disposeTensor',
  'startScope',
  'endScope',
  'track',
  'memory',
  'reset',
];

await use('wasm');

test('requiring the package touches nothing', () => {
  const program = `const tf = require('@tensorflow/tfjs'); require('ebb-tfjs');
    tf.add(1, 2); console.log(Object.keys(tf.engine()).filter((name) => typeof tf.engine()[name] === 'function'));`;
  const { stdout } = spawnSync(process.execPath, ['-e', program], { cwd: root, encoding: 'utf8' });
  assert.equal(stdout.trim().split('\n').at(-1), '[]');
});

test("requiring backend ebb touches how kernels and gradients run, and nothing of tensors' lives", () => {
  const engine = tf.engine();
  for (const method of METHODS) assert.ok(!Object.hasOwn(engine, method), `${method} is hooked`);
  assert.equal(ebb.reclaim.isOn, false);
  assert.equal(ebb.memory().created, 0);
  ebb.audit();
});

test('what was born before is unwatched, and booked as such', async () => {
  const old = [tf.tensor1d([1, 2, 3, 4]), tf.tensor1d([5])];
  tf.variable(tf.tensor1d([7]), true, 'old');
  const count = tf.memory().numTensors;
  ebb.reclaim.on();
  assert.equal(ebb.reclaim.isOn, true);
  const books = ebb.memory();
  assert.equal(books.unwatched, count);
  assert.equal(books.live, count);
  assert.equal(books.liveBytes, tf.memory().numBytes);
  old[0].dispose();
  assert.equal(ebb.memory().unwatched, count - 1);
  assert.equal(ebb.memory().liveBytes, tf.memory().numBytes);
  assertBooks();
  await collected();
  assert.deepEqual([...tf.engine().registeredVariables.old.dataSync()], [7]);
  assertBooks();
});

test('off: nothing is given back; on again: it is', async () => {
  const start = await collected();
  ebb.reclaim.off();
  assert.equal(ebb.reclaim.isOn, false);
  (() => {
    for (let i = 0; i < 100; i++) tf.tensor1d([i]);
  })();
  await sleep(1);
  ebb.collect();
  assert.equal(tf.memory().numTensors, start + 100);
  assert.equal(ebb.memory().orphans, 100);
  ebb.reclaim.on();
  assert.equal(tf.memory().numTensors, start);
  assertBooks();
});

test('off in the middle of a tidy: its tensors still end with it', async () => {
  const start = await collected();
  tf.tidy(() => {
    const a = tf.tensor1d([1]);
    ebb.reclaim.off();
    tf.tensor1d([2]);
    ebb.reclaim.on();
    tf.tensor1d([3]);
    a.add(1);
  });
  assert.equal(tf.memory().numTensors, start);
});

test('setBackend moves data, and the books follow', async () => {
  const x = tf.tensor1d([1, 2, 3]);
  const y = x.reshape([3, 1]);
  await use('cpu');
  const z = x.add(1);
  assert.deepEqual([...z.dataSync()], [2, 3, 4]);
  assertBooks();
  x.dispose();
  assert.deepEqual([...y.dataSync()], [1, 2, 3]);
  y.dispose();
  z.dispose();
  assertBooks();
  await use('wasm');
});

test('engine().reset() keeps the law', async () => {
  const x = tf.tensor1d([1]);
  tf.variable(tf.tensor1d([1]), true, 'before reset');
  tf.engine().reset();
  assert.equal(ebb.memory().live, 0);
  ebb.audit();
  await use('wasm');
  x.dispose();
  const start = tf.memory().numTensors;
  assert.equal(start, 0);
  (() => tf.tensor1d([2]).add(1))();
  assert.equal(await collected(), 0);
  assertBooks();
});
