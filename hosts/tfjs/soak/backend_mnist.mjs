// The conv net of TensorFlow.js's MNIST example on backend `ebb`: 98.5% of the test set within 2 epochs, and
// the memory that it began with.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');
const { readMnist } = require('../demo/idx.cjs');

const EPOCHS = 2;
const BATCH = 32;
/** At the first step; it falls to nothing by the last. */
const RATE = 0.003;
const WANTED = 0.985;

function dataOf(part, count) {
  const { images, labels } = readMnist(part, count);
  return {
    x: tf.tensor4d(images, [count, 28, 28, 1]),
    y: tf.tidy(() => tf.oneHot(tf.tensor1d(labels, 'int32'), 10)),
  };
}

function network() {
  const { conv2d, dense, flatten, maxPooling2d } = tf.layers;
  const kernelInitializer = 'varianceScaling';
  const model = tf.sequential();
  model.add(
    conv2d({
      inputShape: [28, 28, 1],
      kernelSize: 5,
      filters: 8,
      activation: 'relu',
      kernelInitializer,
    }),
  );
  model.add(maxPooling2d({ poolSize: [2, 2], strides: [2, 2] }));
  model.add(conv2d({ kernelSize: 5, filters: 16, activation: 'relu', kernelInitializer }));
  model.add(maxPooling2d({ poolSize: [2, 2], strides: [2, 2] }));
  model.add(flatten());
  model.add(dense({ units: 10, activation: 'softmax', kernelInitializer }));
  return model;
}

/** Trains with a rate that falls by the step. */
async function fit(model, { x, y }) {
  const optimizer = tf.train.adam(RATE);
  model.compile({ optimizer, loss: 'categoricalCrossentropy', metrics: ['accuracy'] });
  const steps = EPOCHS * Math.ceil(x.shape[0] / BATCH);
  let step = 0;
  const onBatchEnd = () => (optimizer.learningRate = RATE * (1 - ++step / steps));
  await model.fit(x, y, {
    epochs: EPOCHS,
    batchSize: BATCH,
    verbose: 0,
    callbacks: { onBatchEnd },
  });
}

const train = dataOf('train', 60_000);
const held = dataOf('t10k', 10_000);
const model = network();
const started = performance.now();
await fit(model, train);
const [loss, accuracy] = model.evaluate(held.x, held.y, { batchSize: 1000 });
const reached = accuracy.dataSync()[0];
const seconds = ((performance.now() - started) / 1000).toFixed(1);
tf.dispose([loss, accuracy, train, held]);
ebb.audit();
console.log(`${(100 * reached).toFixed(2)}% of MNIST after ${EPOCHS} epochs, ${seconds} s`);
if (reached < WANTED) {
  console.log(`FAULT ${(100 * WANTED).toFixed(1)}% are wanted`);
  process.exit(1);
}
