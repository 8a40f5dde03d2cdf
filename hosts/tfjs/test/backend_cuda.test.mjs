// What backend `ebb-cuda` does in JavaScript, over a device of the CPU: tests/cuda/node_test.cjs is for a GPU.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { before, test } from 'node:test';
import { ebb, tf, values } from './backend_support.mjs';

const require = createRequire(import.meta.url);
const { CudaBackend } = require('../dist/backend/cuda');
const { registerAs } = require('../dist/backend/register');

const NAME = 'ebb-elsewhere';
let runs = 0;

before(async () => {
  registerAs(NAME, () => new CudaBackend('elsewhere'), 0);
  assert.equal(await tf.setBackend(NAME), true);
  const { runtime } = tf.engine().backend;
  const one = runtime.one.bind(runtime);
  runtime.one = (op) => {
    runs++;
    return one(op);
  };
});

/** How many operations ran meanwhile. */
function counted(work) {
  const start = runs;
  work();
  return runs - start;
}

test('a number that was used before is not made again', () => {
  const x = tf.tensor1d([1, 2, 3]);
  const add = () => assert.deepEqual(values(x.add(0.25)), [1.25, 2.25, 3.25]);
  assert.equal(counted(add), 2);
  assert.equal(counted(add), 1);
});

test('nor is a small tensor of one number', () => {
  const start = tf.engine().backend.numDataIds();
  tf.tidy(() => {
    const [a, b] = [tf.ones([4, 3]), tf.ones([4, 3])];
    const again = () => assert.deepEqual(values(tf.ones([4, 3])), Array(12).fill(1));
    assert.equal(counted(again), 0);
    assert.deepEqual(values(tf.ones([12])), Array(12).fill(1));
    assert.deepEqual(tf.ones([3, 4]).sum(0).arraySync(), [3, 3, 3, 3]);
    assert.equal(tf.ones([4, 3], 'int32').dataSync().constructor, Int32Array);
    assert.deepEqual(values(tf.tensor1d([2, 2, 3])), [2, 2, 3]);
    assert.ok(Object.is(tf.tensor1d([0, -0]).dataSync()[1], -0));
    assert.deepEqual(values(tf.tensor1d([NaN, NaN])), [NaN, NaN]);
    a.dispose();
    assert.deepEqual(values(b.reshape([2, 6])), Array(12).fill(1));
  });
  for (let i = 2; i < 600; i++) {
    const x = tf.ones([i]);
    assert.deepEqual(values(x), Array(i).fill(1));
    x.dispose();
  }
  assert.equal(tf.engine().backend.numDataIds(), start);
  ebb.audit();
});

test('dtypes and signs are told apart', () => {
  assert.equal(tf.scalar(1, 'int32').dataSync().constructor, Int32Array);
  assert.equal(tf.scalar(1).dataSync().constructor, Float32Array);
  assert.ok(Object.is(tf.scalar(0).dataSync()[0], 0));
  assert.ok(Object.is(tf.scalar(-0).dataSync()[0], -0));
  assert.ok(Number.isNaN(tf.scalar(NaN).dataSync()[0]));
});

test('more numbers than are kept: all are right, counts come back', async () => {
  const start = tf.engine().backend.numDataIds();
  const held = Array.from({ length: 600 }, (_, i) => tf.scalar(i + 0.5));
  held.forEach((x, i) => assert.equal(x.dataSync()[0], i + 0.5));
  assert.equal(await held[300].data().then(([value]) => value), 300.5);
  assert.equal(tf.engine().backend.numDataIds(), start + 600);
  tf.dispose(held);
  assert.equal(tf.engine().backend.numDataIds(), start);
  for (let i = 0; i < 600; i++) {
    const x = tf.scalar(i - 0.25);
    assert.equal(x.dataSync()[0], i - 0.25);
    x.dispose();
  }
});

test('a shared number moves to another backend and back, alone', async () => {
  const a = tf.scalar(7.5);
  const b = tf.scalar(7.5);
  await tf.setBackend('ebb');
  assert.equal(a.add(1).dataSync()[0], 8.5);
  a.dispose();
  await tf.setBackend(NAME);
  assert.equal(b.add(1).dataSync()[0], 8.5);
  assert.equal(tf.scalar(7.5).dataSync()[0], 7.5);
  ebb.audit();
});

test('variables that begin with the same number go their own ways', () => {
  const a = tf.variable(tf.scalar(3));
  const b = tf.variable(tf.scalar(3));
  a.assign(tf.scalar(4));
  assert.equal(a.dataSync()[0], 4);
  assert.equal(b.dataSync()[0], 3);
  tf.dispose([a, b]);
});

test('trains as backend ebb does', async () => {
  const train = async (backend) => {
    await tf.setBackend(backend);
    const model = tf.sequential();
    model.add(
      tf.layers.dense({
        inputShape: [4],
        units: 8,
        activation: 'relu',
        kernelInitializer: tf.initializers.glorotUniform({ seed: 3 }),
      }),
    );
    model.add(
      tf.layers.dense({ units: 1, kernelInitializer: tf.initializers.glorotUniform({ seed: 4 }) }),
    );
    model.compile({ optimizer: tf.train.adam(0.01), loss: 'meanSquaredError' });
    const x = tf.tensor2d(
      [...Array(64).keys()].map((i) => Math.sin(i)),
      [16, 4],
    );
    const y = x.sum(1, true);
    const losses = [];
    for (let i = 0; i < 20; i++) losses.push(await model.trainOnBatch(x, y));
    return losses;
  };
  assert.deepEqual(await train(NAME), await train('ebb'));
});

test("Adam's step is one operation, and goes on where its variables go", async () => {
  const trained = async (backends) => {
    await tf.setBackend(backends[0]);
    const x = tf.variable(tf.tensor1d([1, -2, 3]));
    const optimizer = tf.train.adam(0.1);
    const gradients = [{ name: x.name, tensor: tf.tensor1d([0.5, 1e-3, -7]) }];
    optimizer.applyGradients(gradients);
    for (const backend of backends) {
      await tf.setBackend(backend);
      const { kernels } = await tf.profile(() => optimizer.applyGradients(gradients));
      assert.deepEqual(
        kernels.map(({ name }) => name),
        ['AdamUpdate'],
      );
    }
    const after = values(x);
    optimizer.dispose();
    tf.dispose([x, gradients]);
    return after;
  };
  assert.deepEqual(await trained([NAME, 'ebb', NAME]), await trained(['ebb', 'ebb', 'ebb']));
});
