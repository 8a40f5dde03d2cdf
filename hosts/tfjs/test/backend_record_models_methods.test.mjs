// Which calls of a recorded model are replayed: docs/record.md has the list.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const ROWS = 12;
const BATCH = 4;
const BATCHES = ROWS / BATCH;
const init = (seed) => tf.initializers.glorotUniform({ seed });
const random = (shape, seed) => tf.randomNormal(shape, 0, 1, 'float32', seed);

const MODELS = {
  sequential: () =>
    tf.sequential({
      layers: [
        tf.layers.dense({
          inputShape: [6],
          units: 5,
          kernelInitializer: init(1),
          activation: 'tanh',
        }),
        tf.layers.dense({ units: 2, kernelInitializer: init(2) }),
      ],
    }),
  functional: () => {
    const input = tf.input({ shape: [6] });
    const inner = tf.layers.dense({ units: 5, kernelInitializer: init(1) }).apply(input);
    const outputs = tf.layers.dense({ units: 2, kernelInitializer: init(2) }).apply(inner);
    return tf.model({ inputs: input, outputs });
  },
};

/** Data of three batches, as often as it is asked for. */
const dataset = (x, y) =>
  tf.data.generator(function* () {
    for (let i = 0; i < BATCHES; i++) {
      yield { xs: x.slice([i * BATCH, 0], [BATCH, -1]), ys: y.slice([i * BATCH, 0], [BATCH, -1]) };
    }
  });

const taken = (result) => {
  const all = [result].flat().map((each) => values(each));
  tf.dispose(result);
  return all;
};

/** Each is done three times; how many calls of which part that comes to. */
const METHODS = {
  predict: [(model, x) => taken(model.predict(x)), { predict: 3 }],
  predictOnBatch: [(model, x) => taken(model.predictOnBatch(x)), { predictOnBatch: 3 }],
  trainOnBatch: [(model, x, y) => model.trainOnBatch(x, y), { train: 3 }],
  fit: [
    async (model, x, y) => {
      const given = { batchSize: BATCH, shuffle: false, verbose: 0, validationData: [x, y] };
      return (await model.fit(x, y, { ...given, epochs: 2 })).history;
    },
    { train: 3 * 2 * BATCHES, test: 3 * 2 * BATCHES },
  ],
  fitDataset: [
    async (model, x, y) => {
      const given = { epochs: 2, verbose: 0, validationData: dataset(x, y) };
      return (await model.fitDataset(dataset(x, y), given)).history;
    },
    { train: 3 * 2 * BATCHES, test: 3 * 2 * BATCHES },
  ],
  evaluate: [
    (model, x, y) => taken(model.evaluate(x, y, { batchSize: BATCH })),
    { test: 3 * BATCHES },
  ],
  evaluateDataset: [
    async (model, x, y) => taken(await model.evaluateDataset(dataset(x, y), {})),
    { test: 3 * BATCHES },
  ],
  apply: [(model, x) => taken(tf.tidy(() => model.apply(x))), {}],
};

describe('a recorded model', () => {
  leavesNothing();

  for (const [kind, make] of Object.entries(MODELS)) {
    for (const [name, [call, wanted]] of Object.entries(METHODS)) {
      test(`that is ${kind} replays ${name} where the list says so`, async () => {
        const outcomes = [];
        for (const isRecorded of [false, true]) {
          const model = make();
          const optimizer = tf.train.sgd(0.1);
          model.compile({ optimizer, loss: 'meanSquaredError', metrics: ['mae'] });
          if (isRecorded) ebb.record(model, { exact: true });
          const [x, y] = [random([ROWS, 6], 3), random([ROWS, 2], 4)];
          const all = [];
          for (let i = 0; i < 3; i++) all.push(await call(model, x, y));
          outcomes.push(all);
          if (isRecorded) {
            const infos = ebb.recorded(model).info();
            const calls = Object.entries(infos).map(([part, info]) => [part, info.calls]);
            assert.deepEqual(Object.fromEntries(calls), wanted);
            for (const info of Object.values(infos)) assert.equal(info.replayed, info.calls - 1);
          }
          for (const each of [x, y, model, optimizer]) each.dispose();
        }
        assert.deepEqual(outcomes[1], outcomes[0]);
      });
    }
  }
});
