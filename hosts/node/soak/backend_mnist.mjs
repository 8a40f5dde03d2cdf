// The conv net of TensorFlow.js's MNIST example on backend `ebb`: 98.5% of the test set within 2 epochs, and
// the memory that it began with.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');
const { readMnist } = require('../demo/idx.cjs');

const EPOCHS = 2;
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
  model.compile({ optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy'] });
  return model;
}

const train = dataOf('train', 60_000);
const held = dataOf('t10k', 10_000);
const model = network();
const started = performance.now();
await model.fit(train.x, train.y, { epochs: EPOCHS, batchSize: 64, verbose: 0 });
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
