// Layers and graph models on backend `ebb`: saved, loaded, and the same to the bit.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ebb, tf, values } from './backend_support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ebb-models-'));
after(() => rmSync(folder, { recursive: true }));

function network() {
  const model = tf.sequential();
  model.add(
    tf.layers.conv2d({ inputShape: [12, 12, 2], filters: 4, kernelSize: 3, padding: 'same' }),
  );
  model.add(tf.layers.batchNormalization());
  model.add(tf.layers.activation({ activation: 'relu' }));
  model.add(tf.layers.maxPooling2d({ poolSize: 2 }));
  model.add(tf.layers.flatten());
  model.add(tf.layers.dense({ units: 7, activation: 'tanh' }));
  model.add(tf.layers.dense({ units: 3, activation: 'softmax' }));
  return model;
}

for (const [title, to, from] of [
  ['file://', (path) => `file://${path}`, (path) => `file://${path}/model.json`],
  [
    'tf.io.fileSystem',
    (path) => tf.io.fileSystem(path),
    (path) => tf.io.fileSystem(join(path, 'model.json')),
  ],
]) {
  test(`a layers model through ${title}`, async () => {
    const model = network();
    const x = tf.randomNormal([5, 12, 12, 2]);
    const before = model.predict(x);
    const path = join(folder, title.replace(/\W/g, '_'));
    const { modelArtifactsInfo } = await model.save(to(path));
    assert.equal(modelArtifactsInfo.weightDataBytes, 4 * model.countParams());
    const loaded = await tf.loadLayersModel(from(path));
    const after = loaded.predict(x);
    assert.deepEqual(values(after), values(before));
    assert.deepEqual(values(model.predict(x)), values(before), 'twice is the same as once');
    model.dispose();
    loaded.dispose();
    tf.dispose([x, before, after]);
    ebb.audit();
  });
}

const node = (name, op, input = [], attr = {}) => ({ name, op, input, attr });
const FLOAT = { type: 'DT_FLOAT' };
const CONSTANT = { dtype: FLOAT, value: { tensor: { dtype: 'DT_FLOAT', tensorShape: {} } } };

/** As tensorflowjs_converter writes it: relu(x * w + b). */
function writeGraph(weights, bias) {
  const graph = {
    node: [
      node('x', 'Placeholder', [], {
        dtype: FLOAT,
        shape: { shape: { dim: [{ size: '-1' }, { size: '3' }] } },
      }),
      node('w', 'Const', [], CONSTANT),
      node('b', 'Const', [], CONSTANT),
      node('product', 'MatMul', ['x', 'w'], {
        T: FLOAT,
        transpose_a: { b: false },
        transpose_b: { b: false },
      }),
      node('sum', 'BiasAdd', ['product', 'b'], { T: FLOAT }),
      node('y', 'Relu', ['sum'], { T: FLOAT }),
    ],
    library: {},
    versions: { producer: 1 },
  };
  const specs = [
    { name: 'w', shape: [3, 2], dtype: 'float32' },
    { name: 'b', shape: [2], dtype: 'float32' },
  ];
  writeFileSync(
    join(folder, 'graph.bin'),
    Buffer.from(Float32Array.of(...weights, ...bias).buffer),
  );
  writeFileSync(
    join(folder, 'graph.json'),
    JSON.stringify({
      format: 'graph-model',
      modelTopology: graph,
      weightsManifest: [{ paths: ['graph.bin'], weights: specs }],
    }),
  );
}

test('a graph model is loaded, run, saved, and loaded again', async () => {
  writeGraph([1, -2, 3, 4, -5, 6], [0.5, -0.5]);
  const model = await tf.loadGraphModel(`file://${join(folder, 'graph.json')}`);
  const x = tf.tensor2d([1, 2, 3, -1, 0, 1], [2, 3]);
  const y = model.predict(x);
  assert.deepEqual(values(y), [0, 23.5, 0, 7.5]);
  const copy = join(folder, 'graph');
  await model.save(`file://${copy}`);
  assert.equal(JSON.parse(readFileSync(join(copy, 'model.json'), 'utf8')).format, 'graph-model');
  const loaded = await tf.loadGraphModel(`file://${copy}/model.json`);
  const again = loaded.predict(x);
  assert.deepEqual(values(again), values(y));
  model.dispose();
  loaded.dispose();
  tf.dispose([x, y, again]);
});

test('a file that is not there', async () => {
  await assert.rejects(
    () => tf.loadLayersModel(`file://${join(folder, 'nowhere', 'model.json')}`),
    /\[io\] .*nowhere.*allowed: the model\.json of a saved model/,
  );
});
