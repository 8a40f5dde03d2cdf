// What the C++ examples have saved, evaluated by TensorFlow.js on backend `ebb`:
//
//   node nn_models.mjs mnist MODEL                 98.5% of MNIST's test set
//   node nn_models.mjs transformer MODEL TEXT      predicts the last tenth of the text as it did in C++
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');

const WANTED = 0.985;

/** The share of the test set that examples/mnist.cpp's net gets right. */
async function mnist(path) {
  const { readMnist } = require('../demo/idx.cjs');
  const { conv2d, dense, flatten, maxPooling2d } = tf.layers;
  const model = tf.sequential();
  const convolution = (name, filters, more = {}) =>
    model.add(conv2d({ name, filters, kernelSize: 5, activation: 'relu', ...more }));
  convolution('conv1', 16, { inputShape: [28, 28, 1] });
  model.add(maxPooling2d({ poolSize: 2 }));
  convolution('conv2', 32);
  model.add(maxPooling2d({ poolSize: 2 }));
  model.add(flatten());
  model.add(dense({ name: 'out', units: 10 }));
  const { tensors } = await tf.io.loadSafetensors(path);
  model.loadWeights(tensors);
  const count = 10_000;
  const { images, labels } = readMnist('t10k', count);
  const right = tf.tidy(() => {
    const found = model
      .predict(tf.tensor4d(images, [count, 28, 28, 1]), { batchSize: 500 })
      .argMax(1);
    return found.equal(tf.tensor1d(labels, 'int32')).sum().dataSync()[0];
  });
  tf.dispose(tensors);
  model.dispose();
  const reached = right / count;
  return [`${(100 * reached).toFixed(2)}% of MNIST`, reached >= WANTED];
}

const dense = (x, weights, name) => {
  const [width] = weights[`${name}/kernel`].shape;
  const y = x.reshape([-1, width]).matMul(weights[`${name}/kernel`]).add(weights[`${name}/bias`]);
  return y.reshape([...x.shape.slice(0, -1), y.shape[1]]);
};

function normalised(x, weights, name) {
  const { mean, variance } = tf.moments(x, -1, true);
  const y = x.sub(mean).div(variance.add(1e-5).sqrt());
  return y.mul(weights[`${name}/gamma`]).add(weights[`${name}/beta`]);
}

function attention(x, weights, name, heads) {
  const [batch, time, width] = x.shape;
  const split = (part) =>
    dense(x, weights, `${name}/${part}`)
      .reshape([batch, time, heads, width / heads])
      .transpose([0, 2, 1, 3]);
  const later = tf
    .range(0, time)
    .expandDims(0)
    .greater(tf.range(0, time).expandDims(1))
    .cast('float32');
  const scores = tf.matMul(split('query'), split('key'), false, true).div(Math.sqrt(width / heads));
  const seen = tf.matMul(scores.sub(later.mul(1e9)).softmax(), split('value'));
  return dense(
    seen.transpose([0, 2, 1, 3]).reshape([batch, time, width]),
    weights,
    `${name}/output`,
  );
}

/** examples/transformer.cpp's network: from ids [batch, time] to logits. */
function logitsOf(ids, weights) {
  let x = tf.gather(weights['characters/embeddings'], ids).add(weights['positions/embeddings']);
  for (const block of ['blocks/0', 'blocks/1']) {
    x = x.add(
      attention(normalised(x, weights, `${block}/norm1`), weights, `${block}/attention`, 4),
    );
    const wide = dense(normalised(x, weights, `${block}/norm2`), weights, `${block}/wide`).relu();
    x = x.add(dense(wide, weights, `${block}/narrow`));
  }
  return dense(normalised(x, weights, 'norm'), weights, 'out');
}

async function transformer(path, text) {
  const { tensors, metadata } = await tf.io.loadSafetensors(path);
  const { alphabet, loss: promised } = metadata;
  const length = tensors['positions/embeddings'].shape[0];
  const read = readFileSync(text, 'latin1').replace(/[^\0-\x7f]/g, '');
  const ids = [...read].map((each) => alphabet.indexOf(each));
  const held = ids.slice(Math.floor((ids.length * 9) / 10));
  const windows = Math.min(64, Math.floor((held.length - 1) / length));
  const parts = (first) =>
    Array.from({ length: windows }, (_, i) =>
      held.slice(first + i * length, first + (i + 1) * length),
    );
  const loss = tf.tidy(() => {
    const logits = logitsOf(tf.tensor2d(parts(0), undefined, 'int32'), tensors);
    const next = tf.tensor2d(parts(1), undefined, 'int32').oneHot(alphabet.length);
    return tf.losses.softmaxCrossEntropy(next, logits).dataSync()[0];
  });
  tf.dispose(tensors);
  const said = Number(promised);
  return [
    `a loss of ${loss.toFixed(3)}, ${said.toFixed(3)} in C++`,
    Math.abs(loss - said) < 1e-3 * said,
  ];
}

const [kind, ...files] = process.argv.slice(2);
const [said, good] = await { mnist, transformer }[kind](...files);
ebb.audit();
console.log(`${kind}: ${said}`);
if (!good) {
  console.log('FAULT that is not what was trained');
  process.exit(1);
}
