// One piece of work on one backend, in a process of its own: backend_work.cjs <work> <ebb|recorded|reclaiming|node|wasm|null|onnxruntime>. Answers
// each message: 'warm up', 'batch' with the time of one round of the work in us, 'end' with what is left to say.
const { readFileSync } = require('node:fs');
const { dirname } = require('node:path');
const { createRequire } = require('node:module');
const { dense40 } = require('./support/models.cjs');

const [work, backend] = process.argv.slice(2);

/** onnxruntime takes its weights, and what it has to give, from networks on `ebb`. */
const isEbb = [
  'ebb',
  'recorded',
  'onnxruntime',
  'reclaiming',
  'careless',
  'hand',
  'untaped',
].includes(backend);
/** Another build of the package, to compare this one with: `before`, `before reclaiming`. */
const before = process.env.EBB_BENCH_BEFORE;

async function load() {
  if (isEbb || backend.startsWith('before')) {
    const folder = isEbb ? '..' : before;
    const tf = require(`${folder}/dist/backend/index.js`);
    if (backend === 'untaped') require('../dist/index.js').tape.off();
    if (backend.endsWith('reclaiming')) require(`${folder}/dist/index.js`).reclaim.on();
    return tf;
  }
  if (backend === 'node') {
    // The real tfjs-node, in a folder of its own: it needs a library that no registry here carries.
    return createRequire(`${process.env.EBB_TFJS_NODE}/index.js`)('@tensorflow/tfjs-node');
  }
  const tf = require('@tensorflow/tfjs');
  if (backend === 'wasm') {
    const wasm = require('@tensorflow/tfjs-backend-wasm');
    wasm.setWasmPaths(`${dirname(require.resolve('@tensorflow/tfjs-backend-wasm'))}/`);
  }
  if (backend === 'null') require('./backend_null.cjs')();
  await tf.setBackend(backend);
  return tf;
}

function dense(tf, sizes) {
  const model = tf.sequential();
  for (let i = 1; i < sizes.length; i++) {
    model.add(
      tf.layers.dense({
        units: sizes[i],
        inputShape: i === 1 ? [sizes[0]] : undefined,
        activation: i < sizes.length - 1 ? 'relu' : 'softmax',
      }),
    );
  }
  return model;
}

/** The network of TensorFlow.js's own MNIST example. */
function convolutional(tf) {
  const { conv2d, dense: fully, flatten, maxPooling2d } = tf.layers;
  const initial = { kernelInitializer: 'varianceScaling' };
  const model = tf.sequential();
  model.add(
    conv2d({ inputShape: [28, 28, 1], kernelSize: 5, filters: 8, activation: 'relu', ...initial }),
  );
  model.add(maxPooling2d({ poolSize: [2, 2], strides: [2, 2] }));
  model.add(conv2d({ kernelSize: 5, filters: 16, activation: 'relu', ...initial }));
  model.add(maxPooling2d({ poolSize: [2, 2], strides: [2, 2] }));
  model.add(flatten());
  model.add(fully({ units: 10, activation: 'softmax', ...initial }));
  return model;
}

function training(tf, model, shape, batch) {
  model.compile({ optimizer: 'adam', loss: 'categoricalCrossentropy' });
  const x = tf.randomUniform([batch, ...shape]);
  const y = tf.oneHot(tf.randomUniform([batch], 0, 10, 'int32'), 10);
  return () => model.trainOnBatch(x, y);
}

const WORKS = {
  ...require('./programs.cjs'),
  ...require('./recorded.cjs'),
  ...require('./networks.cjs').worksOn(backend),
  smallAdd(tf) {
    const [a, b] = [tf.ones([8]), tf.ones([8])];
    return () => tf.add(a, b).dispose();
  },
  smallRelu(tf) {
    const a = tf.ones([8]);
    return () => tf.relu(a).dispose();
  },
  smallReshape(tf) {
    const a = tf.ones([8]);
    return () => tf.reshape(a, [2, 4]).dispose();
  },
  matmul32(tf) {
    const a = tf.randomUniform([32, 32]);
    return () => tf.matMul(a, a).dispose();
  },
  matmul1024(tf) {
    const a = tf.randomUniform([1024, 1024]);
    return () => tf.matMul(a, a).dispose();
  },
  add1M(tf) {
    const a = tf.randomUniform([1 << 20]);
    return () => tf.add(a, a).dispose();
  },
  softmax(tf) {
    const a = tf.randomUniform([1024, 1024]);
    return () => tf.softmax(a).dispose();
  },
  sum1M(tf) {
    const a = tf.randomUniform([1 << 20]);
    return () => tf.sum(a).dispose();
  },
  conv(tf) {
    const [x, w] = [tf.randomUniform([32, 64, 64, 3]), tf.randomUniform([3, 3, 3, 16])];
    return () => tf.conv2d(x, w, 1, 'same').dispose();
  },
  fusedConv(tf) {
    const [x, filter] = [tf.randomUniform([8, 56, 56, 64]), tf.randomUniform([3, 3, 64, 64])];
    const bias = tf.randomUniform([64]);
    return () =>
      tf.fused.conv2d({ x, filter, strides: 1, pad: 'same', bias, activation: 'relu' }).dispose();
  },
  train32: (tf) => training(tf, dense(tf, [784, 128, 64, 10]), [784], 32),
  train1024: (tf) => training(tf, dense(tf, [784, 128, 64, 10]), [784], 1024),
  trainConv: (tf) => training(tf, convolutional(tf), [28, 28, 1], 128),
  predict40(tf) {
    const model = dense40(tf, 'ones');
    const x = tf.ones([1, 128]);
    return () => model.predict(x).dispose();
  },
  roundTrip(tf) {
    const values = new Float32Array(1 << 20).fill(1);
    return () => {
      const x = tf.tensor1d(values);
      const y = tf.add(x, 1);
      y.dataSync();
      x.dispose();
      y.dispose();
    };
  },
  careless(tf) {
    const v = tf.ones([256, 1024]);
    if (backend === 'careless') begin();
    return () => {
      const a = tf.add(v, 1);
      const b = tf.relu(a);
      const c = b.reshape([1024, 256]);
      if (backend === 'hand') tf.dispose([a, b, c]);
    };
  },
};

const MB = 2 ** 20;
const BUDGET_MB = 64;
let atStart = 0;

/** From here on memory comes back by itself, and is measured. */
function begin() {
  const ebb = require('..');
  ebb.reclaim.on();
  ebb.budget(`${BUDGET_MB}MB`);
  atStart = process.memoryUsage.rss();
}

/** What the system says was resident at most. */
function mostResident() {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(kilobytes) * 1024;
}

const BATCH_MS = 30;
/** V8 makes its best code of a model only after hundreds of steps. */
const WARM_MS = 1200;

/** Turns a step into what answers messages. */
function answering(step) {
  let count = 1;
  const run = async () => {
    const start = performance.now();
    for (let i = 0; i < count; i++) {
      const result = step();
      if (result instanceof Promise) await result;
    }
    return (performance.now() - start) / count;
  };
  return {
    async 'warm up'() {
      const end = performance.now() + WARM_MS;
      let ms = await run();
      do {
        count = work === 'careless' ? 100 : Math.max(1, Math.round(BATCH_MS / ms));
        ms = await run();
      } while (performance.now() < end);
      return {};
    },
    batch: async () => ({ us: (await run()) * 1000 }),
    end: () => ({ peak: mostResident() - atStart, budget: BUDGET_MB * MB }),
  };
}

async function main() {
  const tf = await load();
  const expected =
    isEbb || backend.startsWith('before') ? 'ebb' : ({ node: 'tensorflow' }[backend] ?? backend);
  if (tf.getBackend() !== expected) throw new Error(`${tf.getBackend()} runs, not ${expected}`);
  if (work === 'start') {
    tf.add(tf.ones([8]), 1).dataSync();
    process.send({ resident: process.memoryUsage.rss() });
    return;
  }
  const answers = answering(await WORKS[work](tf));
  process.on('message', async (what) => process.send(await answers[what]()));
}

main();
