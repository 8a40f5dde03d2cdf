// The engine's records hang on the data ids once backend `ebb` is there. What TensorFlow.js made before, moves
// between backends, a reset of the engine and reclaim switched on later must not notice.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const plain = require('@tensorflow/tfjs');
await plain.setBackend('cpu');
const early = plain.tensor1d([1, 2, 3]);
const doomed = plain.tensor1d([4, 5]);
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');

const counts = () => {
  const { numTensors, numDataBuffers, numBytes } = tf.memory();
  return { numTensors, numDataBuffers, numBytes };
};
const records = () => tf.engine().state.tensorInfo;

test('the table is not a WeakMap any more', () => {
  assert.equal(tf.getBackend(), 'ebb');
  assert.equal(records().constructor.name, 'Records');
});

test('tensors from before are known, move over, and end', () => {
  assert.deepEqual(counts(), { numTensors: 2, numDataBuffers: 2, numBytes: 20 });
  assert.ok(records().has(early.dataId));
  const sum = tf.add(early, 1);
  assert.deepEqual([...sum.dataSync()], [2, 3, 4]);
  assert.deepEqual([...early.dataSync()], [1, 2, 3]);
  const { dataId } = doomed;
  doomed.dispose();
  assert.ok(!records().has(dataId));
  assert.equal(records().delete(dataId), false);
  sum.dispose();
  assert.deepEqual(counts(), { numTensors: 1, numDataBuffers: 1, numBytes: 12 });
});

test('two tensors share one record, which goes with the last', () => {
  const x = tf.tensor2d([1, 2, 3, 4], [2, 2]);
  const flat = x.reshape([4]);
  const { dataId } = x;
  assert.equal(records().get(dataId), records().get(flat.dataId));
  x.dispose();
  assert.ok(records().has(dataId));
  assert.deepEqual([...flat.dataSync()], [1, 2, 3, 4]);
  flat.dispose();
  assert.ok(!records().has(dataId));
  assert.equal(records().get(dataId), undefined);
});

test('data moves to another backend and back', async () => {
  const x = tf.tensor1d([1, -2, 3]);
  await tf.setBackend('cpu');
  const y = tf.relu(x);
  assert.deepEqual([...y.dataSync()], [1, 0, 3]);
  await tf.setBackend('ebb');
  const z = tf.add(x, y);
  assert.deepEqual([...z.dataSync()], [2, -2, 6]);
  tf.dispose([x, y, z]);
  assert.deepEqual(counts(), { numTensors: 1, numDataBuffers: 1, numBytes: 12 });
});

test('reclaim goes on where the table was, and books what it knew', () => {
  const table = records();
  const x = tf.tensor1d([1, 2]);
  ebb.reclaim.on();
  assert.equal(records(), table);
  assert.equal(ebb.memory().unwatched, 2);
  const view = x.reshape([1, 2]); // its record is from before
  view.dispose();
  x.dispose();
  assert.equal(ebb.memory().unwatched, 1);
  assert.deepEqual(counts(), { numTensors: 1, numDataBuffers: 1, numBytes: 12 });
  ebb.audit();
  ebb.reclaim.off();
});

test('a reset of the engine forgets every record', () => {
  const { dataId } = tf.tensor1d([1]);
  assert.ok(records().has(dataId));
  tf.engine().reset();
  assert.ok(!records().has(dataId));
  assert.ok(!records().has(early.dataId));
  const x = tf.tensor1d([5]);
  assert.deepEqual([...x.dataSync()], [5]);
  x.dispose();
  assert.equal(tf.memory().numTensors, 0);
});
