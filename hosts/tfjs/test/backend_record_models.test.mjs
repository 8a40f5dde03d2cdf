// Recorded models and training steps: the numbers of those that are not, to the bit.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ebb, leavesNothing, require, tf, values } from './backend_support.mjs';

const bits = (tensor) => Array.from(new Uint32Array(Float32Array.from(values(tensor)).buffer));
const random = (shape, seed) => tf.randomNormal(shape, 0, 1, 'float32', seed);
const init = (seed) => tf.initializers.glorotUniform({ seed });

const OPTIMIZERS = {
  sgd: () => tf.train.sgd(0.1),
  momentum: () => tf.train.momentum(0.1, 0.9),
  adagrad: () => tf.train.adagrad(0.1),
  adadelta: () => tf.train.adadelta(0.1),
  adam: () => tf.train.adam(0.01),
  adamax: () => tf.train.adamax(0.01),
  rmsprop: () => tf.train.rmsprop(0.01, 0.9, 0.5, undefined, true),
};

function mlp(optimizer, more = []) {
  const model = tf.sequential();
  model.add(
    tf.layers.dense({ inputShape: [6], units: 9, kernelInitializer: init(1), activation: 'relu' }),
  );
  for (const layer of more) model.add(layer);
  model.add(tf.layers.dense({ units: 3, kernelInitializer: init(2), activation: 'softmax' }));
  model.compile({ optimizer, loss: 'categoricalCrossentropy', metrics: ['accuracy'] });
  return model;
}

const labels = (count) =>
  tf.tidy(() => tf.oneHot(tf.range(0, count, 1, 'int32').mod(tf.scalar(3, 'int32')), 3).toFloat());

function disposeAll(model, optimizer) {
  model.dispose();
  optimizer.dispose();
  if ('m' in optimizer) optimizer.c.dispose(); // TensorFlow.js leaves momentum's
}

/** What the report says of the parts of a model that was recorded under this name: calls, replays, recordings. */
function reported(name) {
  const all = ebb
    .report({ json: true })
    .recorded.filter((each) => each.name.startsWith(`${name}.`));
  return Object.fromEntries(
    all.map(({ name: part, calls, replayed, recorded }) => [
      part.slice(name.length + 1),
      [calls, replayed, recorded],
    ]),
  );
}

describe('a recorded model', () => {
  leavesNothing();

  for (const [name, make] of Object.entries(OPTIMIZERS)) {
    test(`trains with ${name} as one that is not`, async () => {
      const results = [];
      const record = (model) => ebb.record(model, { name });
      for (const how of [(model) => model, record]) {
        const optimizer = make();
        const model = how(mlp(optimizer));
        const [x, y] = [random([8, 6], 5), labels(8)];
        const losses = [];
        for (let i = 0; i < 8; i++) losses.push(await model.trainOnBatch(x, y));
        const predicted = model.predict(x);
        const again = model.predict(x);
        results.push({
          losses,
          iterations: optimizer.iterations,
          weights: model.getWeights().map(bits),
          predicted: bits(predicted),
          again: bits(again),
        });
        tf.dispose([x, y, predicted, again]);
        disposeAll(model, optimizer);
      }
      assert.deepEqual(results[1], results[0]);
      // The first step of most makes variables: the second is recorded.
      const begins = name === 'sgd' ? 0 : 1;
      assert.deepEqual(reported(name), { train: [8, 7 - begins, 1], predict: [2, 1, 1] });
    });
  }

  test('is replayed, and the report says so', async () => {
    const optimizer = tf.train.adam(0.01);
    const model = ebb.record(mlp(optimizer), { name: 'classifier' });
    assert.equal(ebb.record(model), model);
    const [x, y] = [random([8, 6], 5), labels(8)];
    for (let i = 0; i < 6; i++) await model.trainOnBatch(x, y);
    const infos = ebb.report({ json: true }).recorded;
    const train = infos.find(({ name }) => name === 'classifier.train');
    assert.deepEqual([train.calls, train.replayed, train.recorded], [6, 4, 1]);
    assert.match(ebb.report(), /classifier\.train: 6 calls, 4 replayed, recorded 1 times/);
    const kernels = (await tf.profile(() => model.predict(x).dispose())).kernels.length;
    assert.ok(kernels > 0);
    const then = (await tf.profile(() => model.predict(x).dispose())).kernels.length;
    assert.equal(then, 0);
    tf.dispose([x, y]);
    disposeAll(model, optimizer);
  });

  test('fits and evaluates, with callbacks and a last batch that is smaller', async () => {
    const results = [];
    const record = (model) => ebb.record(model, { name: 'fitted' });
    for (const how of [(model) => model, record]) {
      const optimizer = tf.train.adam(0.01);
      const model = how(mlp(optimizer));
      const [x, y] = [random([20, 6], 5), labels(20)];
      let ends = 0;
      const { history } = await model.fit(x, y, {
        epochs: 3,
        batchSize: 8,
        shuffle: false,
        verbose: 0,
        validationData: [x, y],
        callbacks: { onBatchEnd: () => void ends++ },
      });
      const scores = model.evaluate(x, y, { batchSize: 8 });
      results.push({
        history,
        ends,
        scores: scores.map(bits),
        weights: model.getWeights().map(bits),
      });
      tf.dispose([x, y, scores]);
      disposeAll(model, optimizer);
    }
    assert.deepEqual(results[1], results[0]);
    assert.equal(results[1].ends, 9);
    // Batches of 8, 8 and 4, and validation of all 20 at once after each epoch; the first of all makes variables.
    const { train, test: tested } = reported('fitted');
    assert.deepEqual(train, [9, 6, 2]);
    assert.deepEqual(tested, [12, 10, 2]);
  });

  test('takes another rate, other weights, another optimizer', async () => {
    const results = [];
    const record = (model) => ebb.record(model, { name: 'changed' });
    for (const how of [(model) => model, record]) {
      const first = tf.train.adam(0.01);
      const second = tf.train.sgd(0.1);
      const model = how(mlp(first));
      const [x, y] = [random([8, 6], 5), labels(8)];
      const steps = async () => {
        for (let i = 0; i < 4; i++) await model.trainOnBatch(x, y);
      };
      await steps();
      first.learningRate = 0.1;
      await steps();
      const others = model.getWeights().map((each, i) => random(each.shape, 40 + i));
      model.setWeights(others);
      await steps();
      model.compile({ optimizer: second, loss: 'meanSquaredError' });
      await steps();
      second.setLearningRate(0.5);
      await steps();
      results.push(model.getWeights().map(bits));
      tf.dispose([x, y, others]);
      disposeAll(model, second);
      first.dispose();
    }
    assert.deepEqual(results[1], results[0]);
    // Recorded at the second step, at each other rate and for the other optimizer; not for other weights.
    assert.deepEqual(reported('changed').train, [20, 15, 4]);
    const { reasons } = ebb
      .report({ json: true })
      .recorded.find(({ name }) => name === 'changed.train');
    assert.deepEqual(reasons, {
      'it made variables, as first steps of optimizers do': 1,
      'learningRate of an optimizer changed': 2,
      'other shapes, dtypes or constants': 1,
    });
  });

  test('stays recorded when it is compiled, built or added to later', async () => {
    const outcomes = [];
    for (const isRecorded of [false, true]) {
      const layers = [
        [{ inputShape: [6], units: 4, kernelInitializer: init(1) }],
        [{ units: 3, kernelInitializer: init(2) }],
        [{ units: 2, kernelInitializer: init(3) }],
      ].map(([config]) => tf.layers.dense(config));
      const model = tf.sequential({ layers: layers.slice(0, 2) });
      const modes = { n: 0 };
      const key = () => modes.n;
      if (isRecorded) assert.equal(ebb.record(model, { name: 'grown', key }), model);
      const x = random([8, 6], 5);
      const all = [];
      const predict = () => {
        for (let i = 0; i < 3; i++) {
          const y = model.predict(x);
          all.push([y.shape, bits(y)]);
          y.dispose();
        }
      };
      predict();
      const first = tf.train.sgd(0.1);
      model.compile({ optimizer: first, loss: 'meanSquaredError' });
      predict();
      const steps = async (units) => {
        const y = tf.ones([8, units]);
        for (let i = 0; i < 4; i++) all.push(await model.trainOnBatch(x, y));
        y.dispose();
      };
      await steps(3);
      modes.n++;
      predict();
      await steps(3);
      model.add(layers[2]);
      const second = tf.train.sgd(0.05);
      model.compile({ optimizer: second, loss: 'meanSquaredError' });
      predict();
      await steps(2);
      outcomes.push(all);
      x.dispose();
      model.dispose();
      first.dispose();
      second.dispose();
    }
    assert.deepEqual(outcomes[1], outcomes[0]);
    assert.deepEqual(reported('grown'), { predict: [12, 8, 4], train: [12, 9, 3] });
  });

  test('goes on with a fit that compiles it', async () => {
    const outcomes = [];
    for (const isRecorded of [false, true]) {
      const model = tf.sequential({
        layers: [tf.layers.dense({ units: 2, inputShape: [3], kernelInitializer: 'ones' })],
      });
      const optimizers = [0.1, 0.01].map((rate) => tf.train.sgd(rate));
      const compile = (i) => model.compile({ optimizer: optimizers[i], loss: 'meanSquaredError' });
      compile(0);
      if (isRecorded) ebb.record(model, { name: 'compiled within', exact: true });
      const x = tf.ones([10, 3]);
      const y = tf.ones([10, 2]);
      const options = { batchSize: 5, verbose: 0, shuffle: false, validationData: [x, y] };
      const onEpochEnd = async (epoch) => {
        if (epoch !== 1) return;
        compile(1);
        // The rest of the fit is with the first all the same.
        await model.trainOnBatch(x, y);
        tf.dispose([model.evaluate(x, y), model.predict(x)].flat());
      };
      const first = await model.fit(x, y, { ...options, epochs: 4, callbacks: { onEpochEnd } });
      const second = await model.fit(x, y, { ...options, epochs: 4 });
      outcomes.push([first.history, second.history]);
      for (const each of [x, y, model, ...optimizers]) each.dispose();
    }
    assert.deepEqual(outcomes[1], outcomes[0]);
  });

  test('takes options that are given later', async () => {
    for (const sequential of [true, false]) {
      const optimizer = tf.train.sgd(0.1);
      let model = mlp(optimizer);
      if (!sequential) {
        const { inputs, outputs } = model;
        model = tf.model({ inputs, outputs });
        model.compile({ optimizer, loss: 'categoricalCrossentropy' });
      }
      const [first, later] = ['first', 'later'].map((each) => `${each} ${sequential}`);
      ebb.record(model, { name: first });
      const [x, y] = [random([8, 6], 5), labels(8)];
      const predict = () => {
        const results = [0, 1, 2].map(() => model.predict(x));
        const kept = results[1] === results[2];
        tf.dispose(results);
        return kept;
      };
      assert.equal(predict(), false);
      for (const same of [undefined, {}, { name: first }]) {
        assert.equal(ebb.record(model, same), model);
        assert.equal(predict(), false);
      }
      assert.deepEqual(reported(first).predict, [12, 11, 1]);
      ebb.record(model, { reuse: true });
      assert.equal(predict(), true);
      assert.deepEqual(reported(first).predict, [15, 13, 2]);
      ebb.record(model, { name: later });
      for (let i = 0; i < 4; i++) await model.trainOnBatch(x, y);
      assert.equal(predict(), true);
      assert.deepEqual(reported(later).train, [4, 3, 1]);
      assert.throws(() => ebb.record(model, { fold: 1 }), /fold/);
      ebb.record(model, { reuse: false });
      assert.equal(predict(), false);
      tf.dispose([x, y]);
      disposeAll(model, optimizer);
    }
  });

  test('has dropout and normalisation over batches', async () => {
    const layers = [tf.layers.batchNormalization(), tf.layers.dropout({ rate: 0.5 })];
    const optimizer = tf.train.adam(0.01);
    const model = ebb.record(mlp(optimizer, layers), { name: 'dropping' });
    const [x, y] = [random([32, 6], 5), labels(32)];
    const losses = new Set();
    const means = new Set();
    for (let i = 0; i < 8; i++) {
      losses.add((await model.trainOnBatch(x, y))[0]);
      means.add(bits(layers[0].movingMean.read()).join());
    }
    assert.equal(losses.size, 8);
    assert.equal(means.size, 8);
    const train = ebb.report({ json: true }).recorded.find(({ name }) => name === 'dropping.train');
    assert.equal(train.replayed, 6, JSON.stringify(train));
    tf.dispose([x, y]);
    disposeAll(model, optimizer);
  });

  test('may be recurrent, or a convolutional one', async () => {
    const { layers } = tf;
    const nets = [
      () => [
        layers.lstm({
          units: 5,
          inputShape: [4, 3],
          kernelInitializer: init(1),
          recurrentInitializer: init(2),
        }),
      ],
      () => [
        layers.gru({
          units: 5,
          inputShape: [4, 3],
          kernelInitializer: init(1),
          recurrentInitializer: init(2),
        }),
      ],
      () => [
        layers.reshape({ inputShape: [4, 3], targetShape: [4, 3, 1] }),
        layers.conv2d({
          filters: 4,
          kernelSize: 2,
          activation: 'relu',
          kernelInitializer: init(3),
        }),
        layers.maxPooling2d({ poolSize: 2, strides: 1 }),
        layers.flatten(),
      ],
    ];
    for (const [i, net] of nets.entries()) {
      const results = [];
      for (const how of [
        (model) => model,
        (model) => ebb.record(model, { exact: true, name: `exact ${i}` }),
        (model) => ebb.record(model, { name: `near ${i}` }),
      ]) {
        const optimizer = tf.train.rmsprop(0.01);
        const model = tf.sequential();
        for (const layer of net()) model.add(layer);
        model.add(layers.dense({ units: 1, kernelInitializer: init(4) }));
        model.compile({ optimizer, loss: 'meanSquaredError' });
        how(model);
        const [x, y] = [random([6, 4, 3], 5), random([6, 1], 6)];
        const losses = [];
        for (let step = 0; step < 5; step++) losses.push(await model.trainOnBatch(x, y));
        results.push([losses, model.getWeights().map(bits)]);
        tf.dispose([x, y]);
        disposeAll(model, optimizer);
      }
      assert.deepEqual(results[1], results[0]);
      const [[losses], , [near]] = results;
      assert.ok(near.every((loss, at) => Math.abs(loss - losses[at]) < 1e-5));
      for (const name of [`exact ${i}`, `near ${i}`]) {
        assert.deepEqual(reported(name).train, [5, 3, 1]);
      }
    }
  });

  test('trains in a worker as it does here', async () => {
    const program = (tf_, ebb_, init_) => {
      const model = tf_.sequential();
      const dense = (units, seed, more) =>
        tf_.layers.dense({ units, kernelInitializer: init_(seed), ...more });
      model.add(dense(9, 1, { inputShape: [6], activation: 'tanh' }));
      model.add(dense(1, 2));
      const optimizer = tf_.train.adam(0.05);
      model.compile({ optimizer, loss: 'meanSquaredError' });
      return { model: ebb_.record(model, { name: 'worker' }), optimizer };
    };
    const steps = async (tf_, model) => {
      const x = tf_.randomNormal([16, 6], 0, 1, 'float32', 5);
      const y = tf_.tidy(() => x.sum(1, true));
      const losses = [];
      for (let i = 0; i < 50; i++) losses.push(await model.trainOnBatch(x, y));
      const predicted = [model.predict(x), model.predict(x)];
      const all = [losses, ...predicted.map((each) => Array.from(each.dataSync()))];
      tf_.dispose([x, y, predicted]);
      return all;
    };
    const worker = new Worker(
      `const tf = require(${JSON.stringify(require.resolve('ebb-tfjs/backend'))});
       const ebb = require(${JSON.stringify(require.resolve('ebb-tfjs'))});
       const { parentPort } = require('node:worker_threads');
       const init = (seed) => tf.initializers.glorotUniform({ seed });
       const { model, optimizer } = (${program})(tf, ebb, init);
       (${steps})(tf, model).then((results) => {
         const { recorded } = ebb.report({ json: true });
         model.dispose();
         optimizer.dispose();
         ebb.audit();
         parentPort.postMessage({ results, recorded, left: tf.memory().numTensors });
       });`,
      { eval: true },
    );
    const there = await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    const { model, optimizer } = program(tf, ebb, init);
    const results = await steps(tf, model);
    disposeAll(model, optimizer);
    assert.deepEqual(there.results, results);
    assert.ok(results[0].at(-1) < results[0][0] / 4);
    const counted = there.recorded.map(({ name, calls, replayed }) => [name, calls, replayed]);
    assert.deepEqual(counted, [
      ['worker.train', 50, 48],
      ['worker.predict', 2, 1],
    ]);
    assert.equal(there.left, 0);
    await worker.terminate();
  });
});
