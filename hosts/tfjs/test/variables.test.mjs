// Item 3: variables, models, optimizers.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { collected, ebb, onEachBackend, tf, tfjsNodeRuns, use } from './support.mjs';

const folder = await mkdtemp(join(tmpdir(), 'ebb-models-'));
after(() => rm(folder, { recursive: true }));

function network() {
  const model = tf.sequential();
  model.add(tf.layers.dense({ units: 8, inputShape: [4], activation: 'relu' }));
  model.add(tf.layers.dense({ units: 2 }));
  return model;
}

onEachBackend('variables', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });

  test('a variable that nobody holds comes back', async () => {
    const start = await collected();
    (() => tf.variable(tf.tensor1d([1, 2]), true, 'dropped'))();
    assert.equal(await collected(), start);
    assert.equal('dropped' in tf.engine().registeredVariables, false);
  });

  test('the registry looks the same for live ones: by name, for...in, keys', async () => {
    const held = tf.variable(tf.tensor1d([3]), true, 'held');
    await collected();
    const registry = tf.engine().registeredVariables;
    assert.equal(registry.held, held);
    const seen = [];
    for (const name in registry) seen.push([name, registry[name]]);
    assert.ok(seen.some(([name, variable]) => name === 'held' && variable === held));
    assert.deepEqual(Object.keys(registry), ['held']);
    held.dispose();
    assert.deepEqual(Object.keys(registry), []);
    assert.equal(registry.held, undefined);
  });

  test('assign many times: watched once, given back once', async () => {
    const start = await collected();
    const variable = tf.variable(tf.tensor1d([0]));
    for (let i = 1; i <= 100; i++) variable.assign(tf.tidy(() => tf.keep(tf.tensor1d([i]))));
    await collected();
    assert.deepEqual([...variable.dataSync()], [100]);
    assert.equal(tf.memory().numTensors, start + 1);
    variable.dispose();
    assert.equal(await collected(), start);
  });

  test('a name clash collects once before it throws', async () => {
    (() => tf.variable(tf.tensor1d([1]), true, 'name'))();
    await 0;
    const again = tf.variable(tf.tensor1d([2]), true, 'name');
    assert.throws(() => tf.variable(tf.tensor1d([3]), true, 'name'), /already registered/);
    again.dispose();
    await collected();
  });

  test('disposeVariables ends them all; dispose twice is harmless', async () => {
    const start = await collected();
    const source = tf.tensor1d([1, 2]);
    const a = tf.variable(source);
    const b = tf.variable(tf.tensor1d([3]));
    tf.disposeVariables();
    assert.equal(await collected(), start + 1);
    a.dispose();
    b.dispose();
    assert.deepEqual([...source.dataSync()], [1, 2]);
    source.dispose();
    source.dispose();
    assert.equal(tf.memory().numTensors, start);
  });

  test('variables: false leaves them registered for ever', async () => {
    const start = await collected();
    ebb.reclaim.on({ variables: false });
    (() => tf.variable(tf.tensor1d([1]), true, 'for ever'))();
    assert.equal(await collected(), start + 1);
    assert.ok('for ever' in tf.engine().registeredVariables);
    ebb.reclaim.on();
    assert.equal(await collected(), start);
  });

  test('a model built, trained and dropped without dispose: everything comes back', async () => {
    const start = await collected();
    await (async () => {
      const model = network();
      model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
      for (let i = 0; i < 3; i++) await model.trainOnBatch(tf.ones([4, 4]), tf.ones([4, 2]));
      model.predict(tf.ones([1, 4]));
    })();
    assert.equal(await collected(), start);
    assert.deepEqual(Object.keys(tf.engine().registeredVariables), []);
  });

  test('a model built and compiled in tidy and disposed: no tensor left', async () => {
    const start = await collected();
    tf.tidy(() => {
      const model = network();
      model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      model.predict(tf.ones([2, 4]));
      model.dispose();
    });
    assert.equal(tf.memory().numTensors, start);
  });

  test('an optimizer dropped: its slots come back', async () => {
    const start = await collected();
    const x = tf.variable(tf.tensor1d([1, 2]));
    (() => {
      const optimizer = tf.train.adam(0.1);
      for (let i = 0; i < 3; i++) optimizer.minimize(() => x.square().sum());
    })();
    assert.equal(await collected(), start + 1);
    x.dispose();
  });

  test('loadLayersModel and loadGraphModel from file://, dropped', async () => {
    const start = await collected();
    const saved = `file://${join(folder, backend)}`;
    const expected = await (async () => {
      const model = network();
      await model.save(saved);
      return [...model.predict(tf.ones([1, 4])).dataSync()];
    })();
    assert.equal(await collected(), start);
    await (async () => {
      const model = await tf.loadLayersModel(`${saved}/model.json`);
      assert.deepEqual([...model.predict(tf.ones([1, 4])).dataSync()], expected);
    })();
    assert.equal(await collected(), start);
    const missing = tfjsNodeRuns ? /does not exist/ : /ENOENT/; // tfjs-node has a handler of its own
    await assert.rejects(tf.loadGraphModel(`file://${folder}/nowhere/model.json`), missing);
  });
});
