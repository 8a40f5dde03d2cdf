// What every runner's test does: a careless program under reclaim, with what a test file usually looks at. Modules come
// through the runner's own `require`, and so do the globals.
const assert = require('node:assert/strict');

const TENSORS = 20000;

async function onBackend(tf, ebb, backend) {
  await tf.setBackend(backend);
  const held = tf.tensor1d([1, 2, 3]);
  const before = tf.memory().numTensors;
  for (let i = 0; i < TENSORS; i++) tf.add(tf.tensor1d([i]), 1).reshape([1, 1]);
  const later = await ebb.tidy(async () => {
    await null;
    return tf.add(held, 1);
  });
  ebb.collect();
  ebb.audit();
  assert.equal(held.dataSync().join(), '1,2,3', 'what is held was freed');
  assert.equal(later.dataSync().join(), '2,3,4');
  assert.ok(tf.memory().numTensors - before < TENSORS, 'nothing came back');
  tf.dispose([held, later]);
}

/** An error of the native side is one of this realm's. */
function nativeErrors(tf) {
  const x = tf.ones([2]);
  let error;
  try {
    tf.engine().runKernel('Softmax', { logits: x }, { dim: 7 });
  } catch (caught) {
    error = caught;
  }
  x.dispose();
  assert.ok(error instanceof Error, 'an error of the addon is not instanceof Error');
  assert.equal(error.code, 'EBB_INVALID_ARGUMENT');
}

module.exports = async function careless(load = require) {
  const tf = load('ebb-tfjs/backend');
  const ebb = load('ebb-tfjs');
  ebb.reclaim.on();
  assert.equal(ebb.reclaim.isOn, true);
  await onBackend(tf, ebb, 'ebb');
  nativeErrors(tf);
  await onBackend(tf, ebb, 'cpu');
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
  model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
  await model.fit(tf.ones([8, 2]), tf.ones([8, 1]), { epochs: 1, verbose: 0 });
  ebb.audit();
};
