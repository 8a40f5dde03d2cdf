// TensorFlow's SavedModels, as TensorFlow itself made them (scripts/make_saved_models.py), with what it gave for them.
import assert from 'node:assert/strict';
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
