// What recorded models need of memory: in a call no more than TensorFlow.js does in `tf.tidy`; between calls what they keep.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf } from './backend_support.mjs';

const { layers } = tf;
const MB = 2 ** 20;
const BATCH = 32;
const NETWORKS = {
  dense: {
    shape: [300],
    make: () => [256, 256, 10].map((units) => layers.dense({ units, activation: 'relu' })),
  },
  convolutional: {
    shape: [24, 24, 3],
    make: () => [
      layers.conv2d({ filters: 16, kernelSize: 3, activation: 'relu' }),
      layers.batchNormalization(),
      layers.depthwiseConv2d({ kernelSize: 3, padding: 'same', activation: 'relu6' }),
      layers.conv2d({ filters: 32, kernelSize: 1, activation: 'relu' }),
      layers.maxPooling2d({ poolSize: 2 }),
      layers.flatten(),
      layers.dense({ units: 10 }),
    ],
  },
  recurrent: {
    shape: [20, 16],
    make: () => [layers.lstm({ units: 64 }), layers.dense({ units: 10 })],
  },
};

const bytes = () => ebb.report({ json: true }).books.bytes;

/** The most bytes that there are more while it runs: what is there before lies above all peaks so far. */
async function peakOf(run) {
  const { peak_live, live } = bytes();
  const ballast = tf.zeros([Math.ceil((peak_live - live + MB) / 4)]);
  const before = bytes().live;
  await run();
  const most = bytes().peak_live - before;
  ballast.dispose();
  return most;
}

/** Peaks of a call of predict and of trainOnBatch, and what is there only until the model forgets what it recorded. */
async function measured({ shape, make }, options) {
  const model = tf.sequential({ layers: [layers.inputLayer({ inputShape: shape }), ...make()] });
  const optimizer = tf.train.adam(0.001);
  const compile = () => model.compile({ optimizer, loss: 'meanSquaredError' });
  compile();
  if (options !== undefined) ebb.record(model, options);
  const [x, y] = [tf.randomNormal([BATCH, ...shape]), tf.ones([BATCH, 10])];
  const works = {
    predict: () => tf.tidy(() => void model.predict(x)),
    trainOnBatch: () => model.trainOnBatch(x, y),
  };
  const result = {};
  for (const [name, work] of Object.entries(works)) {
    for (let i = 0; i < 4; i++) await work(); // recorded by then, and what is kept is made
    const peak = await peakOf(work);
    const { live } = bytes();
    compile(); // what was recorded is forgotten
    result[name] = { peak, kept: live - bytes().live };
  }
  const weights = model.getWeights().reduce((sum, { size }) => sum + 4 * size, 0);
  for (const each of [x, y, model, optimizer]) each.dispose();
  return { ...result, weights };
}

describe('a recorded model', () => {
  leavesNothing();

  for (const [name, network] of Object.entries(NETWORKS)) {
    test(`that is ${name} needs no more in a call than one that is not recorded`, async () => {
      const eager = await measured(network);
      assert.ok(eager.predict.peak > 0 && eager.trainOnBatch.peak > eager.predict.peak);
      const constants = (await measured(network, { keep: false })).predict.kept;
      assert.ok(constants < 64 * 1024, `${constants} bytes of constants`);
      for (const options of [{}, { keep: false }, { exact: true }, { overwrite: false }]) {
        const recorded = await measured(network, options);
        for (const work of ['predict', 'trainOnBatch']) {
          const [ours, theirs] = [recorded[work].peak, eager[work].peak];
          const what = `${work} ${JSON.stringify(options)}: ${ours} bytes, not recorded ${theirs}`;
          assert.ok(ours <= theirs, what);
        }
        // The exceptions: what `keep` makes of weights, and constants.
        const kept = recorded.predict.kept - constants;
        assert.ok(
          kept <= (options.keep === false ? 0 : 1.5 * recorded.weights),
          `${kept} are kept`,
        );
      }
    });
  }
});
