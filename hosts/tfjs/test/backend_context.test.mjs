// One context: the data of backend `ebb` is watched itself, and the core collects from inside an allocation.
import assert from 'node:assert/strict';
import { afterEach, before, test } from 'node:test';
import { collected, ebb, require, tf, values } from './backend_support.mjs';

const { runOp } = require('../dist/backend/recipe');
const MB = 2 ** 20;
const SHAPE = [512, 512]; // 1 MB

before(() => ebb.reclaim.on());
afterEach(() => ebb.budget('64GB'));

const inUse = () => ebb.report({ json: true }).devices.find(({ kind }) => kind === 'system').in_use;

/** Runs with a strict budget that leaves this much room, and says how often V8 collected meanwhile. */
function within(bytes, run) {
  ebb.trim();
  const { collections: then } = ebb.memory();
  ebb.budget(inUse() + bytes, { strict: true });
  const result = run();
  const { collections: now } = ebb.memory();
  return { result, collected: now.minor + now.major - then.minor - then.major };
}

/** Counts the calls of a kernel. */
function counting(name, run) {
  const kernel = tf.getKernel(name, 'ebb');
  const { kernelFunc } = kernel;
  let calls = 0;
  kernel.kernelFunc = (call) => {
    calls++;
    return kernelFunc(call);
  };
  try {
    run();
  } finally {
    kernel.kernelFunc = kernelFunc;
  }
  return calls;
}

test('an allocation collects, and no kernel runs twice', async () => {
  await collected();
  const x = tf.ones(SHAPE);
  let calls = 0;
  const { collected: collections } = within(16 * MB, () => {
    calls = counting('Relu', () => {
      for (let i = 0; i < 100; i++) tf.relu(x);
    });
  });
  assert.equal(calls, 100);
  assert.ok(collections > 0);
  x.dispose();
  ebb.audit();
});

test('a clone outlives its original, which dies inside an allocation', async () => {
  await collected();
  const start = tf.memory();
  const clone = (() => tf.fill(SHAPE, 3).clone())();
  const { collected: collections } = within(8 * MB, () => {
    for (let i = 0; i < 50; i++) {
      const sum = tf.add(clone, i);
      assert.equal(sum.dataSync()[7], 3 + i);
    }
  });
  assert.ok(collections > 0);
  assert.equal(clone.dataSync()[512 * 512 - 1], 3);
  await collected();
  assert.equal(tf.memory().numTensors, start.numTensors + 1);
  assert.equal(tf.memory().numDataBuffers, start.numDataBuffers + 1);
  clone.dispose();
  assert.equal(tf.memory().numBytes, start.numBytes);
  ebb.audit();
});

test('operands that only a kernel knows live until its last native call', async () => {
  await collected();
  tf.registerKernel({
    kernelName: 'EbbTestSteps',
    backendName: 'ebb',
    kernelFunc: ({ inputs: { x }, backend }) => {
      // Each step needs more room than there is without what was dropped before.
      let sum = runOp(backend, 'Relu', [x]);
      for (let i = 0; i < 30; i++) {
        tf.fill(SHAPE, i);
        const next = runOp(backend, 'Add', [sum, x]);
        backend.disposeData(sum);
        sum = next;
      }
      return sum;
    },
  });
  try {
    const { result, collected: collections } = within(8 * MB, () =>
      tf.engine().runKernel('EbbTestSteps', { x: tf.fill(SHAPE, 2) }),
    );
    assert.ok(collections > 0);
    assert.equal(result.dataSync()[12345], 62);
    result.dispose();
  } finally {
    tf.unregisterKernel('EbbTestSteps', 'ebb');
  }
  await collected();
  ebb.audit();
});

test('TensorFlow.js counts what died inside an allocation', async () => {
  await collected();
  const { numTensors, numBytes, numDataBuffers } = tf.memory();
  const ids = tf.backend().numDataIds();
  within(8 * MB, () => {
    for (let i = 0; i < 50; i++) tf.fill(SHAPE, i).reshape([-1]).clone();
  });
  await collected();
  const now = tf.memory();
  assert.deepEqual(
    [now.numTensors, now.numBytes, now.numDataBuffers],
    [numTensors, numBytes, numDataBuffers],
  );
  assert.equal(tf.backend().numDataIds(), ids);
  ebb.audit();
});

test('out of memory says who holds it, and leaves what was there', async () => {
  await collected();
  const held = [];
  ebb.trace.on();
  assert.throws(
    () =>
      within(8 * MB, () => held.push(...Array.from({ length: 20 }, (_, i) => tf.fill(SHAPE, i)))),
    (error) =>
      error.code === 'EBB_OUT_OF_MEMORY' && /backend_context\.test\.mjs:\d+/.test(error.message),
  );
  ebb.trace.off();
  ebb.budget('64GB');
  tf.dispose(held);
  ebb.audit();
});

test('data that moves away takes its tensors along', async () => {
  await collected();
  const start = tf.memory().numTensors;
  const x = tf.tensor1d([1, -2, 3]);
  const y = x.reshape([3, 1]);
  await tf.setBackend('cpu');
  assert.deepEqual(values(tf.relu(y)), [1, 0, 3]);
  await collected();
  assert.deepEqual(values(x), [1, -2, 3]);
  await tf.setBackend('ebb');
  assert.deepEqual(values(tf.add(x, 1)), [2, -1, 4]);
  await collected();
  assert.equal(tf.memory().numTensors, start + 2);
  tf.dispose([x, y]);
  assert.equal(tf.memory().numTensors, start);
  ebb.audit();
});

test('dropped, it comes back from another backend as well', async () => {
  await collected();
  const start = tf.memory().numTensors;
  await (async () => {
    const x = tf.tensor1d([1, -2, 3]);
    await tf.setBackend('cpu');
    tf.relu(x.reshape([3, 1]));
    await tf.setBackend('ebb');
  })();
  await collected();
  assert.equal(tf.memory().numTensors, start);
  ebb.audit();
});

test('a tensor as JSON', () => {
  const x = tf.tensor1d([1, 2]);
  const json = JSON.parse(JSON.stringify(x));
  assert.deepEqual([json.dtype, json.shape, json.dataId], ['float32', [2], {}]);
  x.dispose();
});
