// Learning: MNIST by a small dense network. The conv net is in `npm run soak`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { require, tf } from './backend_support.mjs';

const { readMnist } = require('../demo/idx.cjs');

function dataOf(part, count) {
  const { images, labels, pixels } = readMnist(part, count);
  return {
    x: tf.tensor2d(images, [count, pixels]),
    y: tf.tidy(() => tf.oneHot(tf.tensor1d(labels, 'int32'), 10)),
  };
}

test('784-128-64-10 reaches 97.5% of MNIST within 5 epochs', async () => {
  const model = tf.sequential();
  model.add(tf.layers.dense({ inputShape: [784], units: 128, activation: 'relu' }));
  model.add(tf.layers.dense({ units: 64, activation: 'relu' }));
  model.add(tf.layers.dense({ units: 10, activation: 'softmax' }));
  const optimizer = tf.train.adam(0.002);
  model.compile({
    optimizer,
    loss: 'categoricalCrossentropy',
    metrics: ['accuracy'],
  });
  const train = dataOf('train', 60_000);
  const held = dataOf('t10k', 10_000);
  const tensors = tf.memory().numTensors;
  let best = 0;
  for (let epoch = 0; epoch < 5 && best < 0.975; epoch++) {
    if (epoch === 3) optimizer.learningRate = 0.0005; // large steps first, then small ones
    await model.fit(train.x, train.y, { epochs: 1, batchSize: 64, verbose: 0 });
    const [, accuracy] = model.evaluate(held.x, held.y, { batchSize: 1000 });
    best = Math.max(best, accuracy.dataSync()[0]);
    tf.dispose(accuracy);
  }
  assert.ok(best >= 0.975, `${(100 * best).toFixed(2)}%`);
  assert.ok(tf.memory().numTensors < tensors + 40, 'fit leaves nothing behind');
});
