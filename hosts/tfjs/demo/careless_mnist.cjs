// A training program written carelessly: nothing is disposed, nothing is tidied. It knows nothing of Ebb
// but the backend of that name, where EBB_DEMO_BACKEND says so; demo/run.mjs runs it with and without
// `--import ebb-tfjs/auto`.
const BACKEND = process.env.EBB_DEMO_BACKEND ?? 'wasm';
const tf = require(BACKEND === 'ebb' ? 'ebb-tfjs/backend' : '@tensorflow/tfjs');
if (BACKEND === 'wasm') require('@tensorflow/tfjs-backend-wasm');
const { readMnist } = require('./idx.cjs');

const EPOCHS = Number(process.env.EBB_DEMO_EPOCHS ?? 8);
const BATCH = 64;
const train = readMnist('train', 12_000);
const test = readMnist('t10k', 2_000);

function dense(inputs, outputs, seed) {
  return {
    weights: tf.variable(
      tf.randomNormal([inputs, outputs], 0, Math.sqrt(2 / inputs), 'float32', seed),
    ),
    bias: tf.variable(tf.zeros([outputs])),
  };
}

function batchOf(set, from, to) {
  const rows = set.images.subarray(from * set.pixels, to * set.pixels);
  const images = tf.tensor2d(rows, [to - from, set.pixels]);
  const labels = tf.tensor1d(set.labels.subarray(from, to), 'int32');
  return { images, labels };
}

async function main() {
  await tf.setBackend(BACKEND);
  const layers = [dense(784, 128, 1), dense(128, 64, 2), dense(64, 10, 3)];
  const optimizer = tf.train.adam(0.001);

  function predict(images) {
    return layers.reduce((x, { weights, bias }, i) => {
      const sum = x.matMul(weights).add(bias);
      return i < layers.length - 1 ? sum.relu() : sum;
    }, images);
  }

  function step(from) {
    const { images, labels } = batchOf(train, from, Math.min(from + BATCH, train.count));
    const { value, grads } = tf.variableGrads(() =>
      tf.losses.softmaxCrossEntropy(tf.oneHot(labels, 10), predict(images)),
    );
    optimizer.applyGradients(grads);
    return value.data();
  }

  async function accuracy() {
    const { images, labels } = batchOf(test, 0, test.count);
    return (await predict(images).argMax(1).equal(labels).mean().data())[0];
  }

  console.log(JSON.stringify({ begin: true }));
  for (let epoch = 1; epoch <= EPOCHS; epoch++) {
    const started = clocks();
    let loss = 0;
    for (let from = 0; from < train.count; from += BATCH) loss += (await step(from))[0];
    const took = clocks(started);
    report({ epoch, ...took, loss, accuracy: await accuracy(), tensors: tf.memory().numTensors });
  }
}

/** Seconds on the wall and of the processors, since `from` if that is given. */
function clocks(from = { seconds: 0, processor: 0 }) {
  const { user, system } = process.cpuUsage();
  return {
    seconds: performance.now() / 1e3 - from.seconds,
    processor: (user + system) / 1e6 - from.processor,
  };
}

function report(line) {
  console.log(JSON.stringify({ ...line, resident: process.memoryUsage.rss() }));
}

main();
