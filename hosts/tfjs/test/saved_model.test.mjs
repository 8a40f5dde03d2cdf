// TensorFlow's SavedModels, as TensorFlow itself made them (scripts/make_saved_models.py), with what it gave for them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ebb, tf } from './backend_support.mjs';

// Bytes are left out: TensorFlow.js takes those of a text off for each tensor over it.
let before;
const now = () => [tf.memory().numTensors, tf.backend().numDataIds()];
beforeEach(() => (before = now()));
afterEach(() => {
  assert.deepEqual(now(), before, 'tensors or data are left');
  ebb.audit();
});

const folder = (name) => fileURLToPath(new URL(`saved_models/${name}`, import.meta.url));
const expected = (name) => JSON.parse(readFileSync(join(folder(name), 'expected.json'), 'utf8'));

function given({ inputs }) {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, dtype, values }]) => [
      name,
      tf.tensor(values, shape, dtype === 'int64' ? 'int32' : dtype),
    ]),
  );
}

function assertOutputs(results, { outputs }) {
  assert.deepEqual(Object.keys(results).sort(), Object.keys(outputs).sort());
  for (const [name, { shape, values }] of Object.entries(outputs)) {
    assert.deepEqual(results[name].shape, shape, name);
    Array.from(results[name].dataSync()).forEach((value, i) => {
      if (typeof value === 'string') assert.equal(value, values[i]);
      else
        assert.ok(Math.abs(value - values[i]) < 1e-5, `${name} ${i}: ${value}, not ${values[i]}`);
    });
  }
}

for (const [name, signature] of [
  ['mlp', 'serving_default'],
  ['conv', 'serving_default'],
  ['lstm', 'serving_default'],
  ['text', 'serving_default'],
  ['text', 'count'],
]) {
  test(`${name}, ${signature}: as TensorFlow, at once and later`, async () => {
    const call = expected(name)[signature];
    const model = await tf.node.loadSavedModel(folder(name), ['serve'], signature);
    const inputs = given(call);
    const before = tf.memory().numTensors;
    for (const how of ['predict', 'predictAsync']) {
      const results = await model[how](inputs);
      assertOutputs(results, call);
      tf.dispose(results);
      assert.equal(tf.memory().numTensors, before, 'a run leaves tensors');
    }
    tf.dispose(inputs);
    model.dispose();
  });
}

test('predictAsync leaves the event loop free', async () => {
  const model = await tf.node.loadSavedModel(folder('conv'));
  const { shape } = model.inputs[0];
  const x = tf.randomUniform([2000, ...shape.slice(1)]);
  const first = await model.predictAsync(x); // the worker has started, and loaded it
  const at = performance.now();
  const there = model.predict(x);
  const blocked = performance.now() - at;
  let longest = 0;
  let turn = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - turn);
    turn = performance.now();
  }, 1);
  const away = await model.predictAsync(x);
  clearInterval(timer);
  assert.deepEqual(away.dataSync(), there.dataSync());
  assert.ok(longest < Math.max(blocked / 2, 20), `${longest} ms, where predict takes ${blocked}`);
  tf.dispose([x, first, there, away]);
  model.dispose();
});

test('predictAsync: many at once, errors of the worker, the end meanwhile', async () => {
  const [one, other] = await Promise.all(
    ['mlp', 'mlp'].map((name) => tf.node.loadSavedModel(folder(name))),
  );
  const inputs = Array.from({ length: 20 }, (_, i) => tf.fill([2, 5], i));
  const expected = inputs.map((x) => one.predict(x));
  const results = await Promise.all(
    inputs.map((x, i) => (i % 2 === 0 ? one : other).predictAsync(x)),
  );
  results.forEach((result, i) => assert.deepEqual(result.dataSync(), expected[i].dataSync()));
  const wrong = tf.ones([2, 4]);
  await assert.rejects(one.predictAsync(wrong), { name: 'EbbError' });
  const last = one.predictAsync(inputs[0]);
  one.dispose();
  (await last.catch(() => undefined))?.dispose();
  await assert.rejects(one.predictAsync(inputs[0]), /already been deleted/);
  const again = await other.predictAsync(inputs[1]);
  assert.deepEqual(again.dataSync(), expected[1].dataSync());
  const ended = other.predictAsync(inputs[1]);
  other.dispose();
  await assert.rejects(ended, /disposed of meanwhile/);
  tf.dispose([inputs, expected, results, wrong, again]);
});

test('a program with a model that it never disposes of ends', () => {
  const code = `const tf = require('ebb-tfjs/backend');
    tf.node.loadSavedModel(${JSON.stringify(folder('mlp'))})
      .then((model) => model.predictAsync(tf.ones([1, 5])))
      .then((y) => console.log('computed', y.shape.join()));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', code], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /computed 1,3/);
});

test('what a SavedModel has', async () => {
  const [graph] = await tf.node.getMetaGraphsFromSavedModel(folder('text'));
  assert.deepEqual(graph.tags, ['serve']);
  assert.deepEqual(Object.keys(graph.signatureDefs).sort(), ['count', 'serving_default']);
  const { inputs, outputs } = graph.signatureDefs.serving_default;
  assert.deepEqual(inputs.words, {
    name: 'serving_default_words:0',
    dtype: 'string',
    tfDtype: 'DT_STRING',
    shape: [-1],
  });
  assert.equal(outputs.ids.tfDtype, 'DT_INT64');
  assert.equal(outputs.ids.dtype, 'int32');
});

test('one tensor in, one out; an array; how many are loaded; used after its end', async () => {
  const model = await tf.node.loadSavedModel(folder('mlp'));
  assert.equal(tf.node.getNumOfSavedModels(), 1);
  assert.deepEqual(model.inputs[0].shape, [-1, 5]);
  assert.equal(model.outputs[0].dtype, 'float32');
  const x = tf.ones([2, 5]);
  const one = model.predict(x);
  const [same] = model.predict([x]);
  assert.deepEqual(one.shape, [2, 3]);
  assert.deepEqual([...same.dataSync()], [...one.dataSync()]);
  assert.throws(() => model.predict({ z: x }), /\[SavedModel\] Received "inputs z"; allowed: x/);
  model.dispose();
  assert.equal(tf.node.getNumOfSavedModels(), 0);
  assert.throws(() => model.predict(x), /already been deleted/);
  assert.throws(() => model.dispose(), /already been deleted/);
  tf.dispose([x, one, same]);
});

test('of another shape than the signature says, as TensorFlow takes it', async () => {
  const model = await tf.node.loadSavedModel(folder('text'));
  const words = tf.tensor(['a', 'b', 'c', 'd'], [2, 2]);
  const results = model.predict({ words });
  assert.deepEqual(results.ids.shape, [2, 2]);
  tf.dispose([words, results]);
  model.dispose();
});

test('what is not there, or no SavedModel, is said', async () => {
  await assert.rejects(tf.node.loadSavedModel('/nowhere'), /saved_model\.pb/);
  await assert.rejects(
    tf.node.loadSavedModel(folder('mlp'), ['train']),
    /tags\] .*allowed: \[serve\]/,
  );
  await assert.rejects(
    tf.node.loadSavedModel(folder('text'), ['serve'], 'x'),
    /signature\] Received "x"; allowed: .*count/,
  );
  const broken = mkdtempSync(join(tmpdir(), 'ebb-saved-'));
  cpSync(folder('mlp'), broken, { recursive: true });
  for (const [file, bytes] of [
    ['variables/variables.data-00000-of-00001', 40],
    ['variables/variables.index', 60],
    ['saved_model.pb', 500],
  ]) {
    const whole = readFileSync(join(broken, file));
    writeFileSync(join(broken, file), whole.subarray(0, bytes));
    await assert.rejects(tf.node.loadSavedModel(broken), { code: 'EBB_INVALID_ARGUMENT' }, file);
    writeFileSync(join(broken, file), whole);
  }
  rmSync(broken, { recursive: true });
});

test('a model that is dropped comes back', async () => {
  const before = tf.memory().numTensors;
  const wasOn = ebb.reclaim.isOn;
  ebb.reclaim.on();
  await (async () => void (await tf.node.loadSavedModel(folder('lstm'))))();
  for (let i = 0; i < 20 && tf.memory().numTensors > before; i++) {
    ebb.collect();
    await new Promise(setImmediate);
  }
  assert.equal(tf.memory().numTensors, before);
  if (!wasOn) ebb.reclaim.off();
});
