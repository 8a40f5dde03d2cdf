// Backend `ebb-cuda` from Node: node node_test.cjs, beside the folder that tools/pack_cuda_node.cjs fills.
const assert = require('node:assert/strict');
const { join } = require('node:path');
const { test } = require('node:test');

process.env.EBB_DEVICE ??= 'cuda:0';
const root = process.env.EBB_NODE_ROOT ?? join(__dirname, 'node');
const tf = require(join(root, 'dist', 'backend'));

test('EBB_DEVICE chooses the backend', () => {
  assert.equal(tf.getBackend(), 'ebb-cuda');
});

test('computes', async () => {
  const x = tf.tensor2d([1, 2, 3, 4], [2, 2]);
  assert.deepEqual([...x.matMul(x).dataSync()], [7, 10, 15, 22]);
  assert.deepEqual([...(await x.mul(2).add(1).relu().data())], [3, 5, 7, 9]);
});

test('data() leaves the loop free while the GPU works', async () => {
  const x = tf.ones([4096, 4096]);
  let y = x;
  for (let i = 0; i < 40; i++) y = tf.matMul(y, x).div(4096);
  let rounds = 0;
  let over = false;
  const count = () => {
    rounds++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const values = await y.sum().data();
  over = true;
  assert.equal(values[0], 4096 * 4096);
  assert.ok(rounds > 1, `${rounds} rounds of the loop`);
});

test('a tensor disposed while it is read gives its values', async () => {
  const x = tf.fill([1 << 20], 3);
  const values = x.data();
  x.dispose();
  assert.equal((await values)[12345], 3);
});

test('tensors move between ebb and ebb-cuda', async () => {
  const x = tf.tensor1d([1, 2, 3]);
  await tf.setBackend('ebb');
  const y = x.add(1);
  assert.deepEqual([...y.dataSync()], [2, 3, 4]);
  await tf.setBackend('ebb-cuda');
  assert.deepEqual([...y.mul(x).dataSync()], [2, 6, 12]);
});

test('trains', async () => {
  const model = tf.sequential();
  model.add(tf.layers.dense({ inputShape: [8], units: 16, activation: 'relu' }));
  model.add(tf.layers.dense({ units: 1 }));
  model.compile({ optimizer: tf.train.adam(0.01), loss: 'meanSquaredError' });
  const x = tf.randomNormal([256, 8], 0, 1, 'float32', 1);
  const y = x.sum(1, true);
  const first = (await model.trainOnBatch(x, y));
  let last = first;
  for (let i = 0; i < 200; i++) last = await model.trainOnBatch(x, y);
  assert.ok(last < first / 10, `${first} to ${last}`);
});
