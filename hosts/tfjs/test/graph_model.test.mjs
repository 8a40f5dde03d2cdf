// Item 3: a graph model as the converter writes it, loaded from file:// and dropped without `dispose`.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { collected, ebb, onEachBackend, tf, use } from './support.mjs';

const INPUTS = 3;
const UNITS = 2;
const kernel = Float32Array.of(1, -2, 3, 4, -5, 6);
const bias = Float32Array.of(0.5, -100);
const FLOAT = { type: 'DT_FLOAT' };

const dims = (...sizes) => ({ shape: { dim: sizes.map((size) => ({ size: String(size) })) } });
const weight = (name, shape) => ({ name, shape, dtype: 'float32' });
const constant = (name, ...sizes) => ({
  name,
  op: 'Const',
  attr: {
    dtype: FLOAT,
    value: { tensor: { dtype: 'DT_FLOAT', tensorShape: dims(...sizes).shape } },
  },
});

/** relu(x * kernel + bias), in frozen form: one node for each operation, the weights apart. */
const graph = {
  node: [
    { name: 'x', op: 'Placeholder', attr: { dtype: FLOAT, shape: dims(-1, INPUTS) } },
    constant('kernel', INPUTS, UNITS),
    constant('bias', UNITS),
    {
      name: 'product',
      op: 'MatMul',
      input: ['x', 'kernel'],
      attr: { T: FLOAT, transpose_a: { b: false }, transpose_b: { b: false } },
    },
    { name: 'sum', op: 'BiasAdd', input: ['product', 'bias'], attr: { T: FLOAT } },
    { name: 'y', op: 'Relu', input: ['sum'], attr: { T: FLOAT } },
  ],
  versions: { producer: 1 },
};

const folder = await mkdtemp(join(tmpdir(), 'ebb-graph-'));
after(() => rm(folder, { recursive: true }));
const url = pathToFileURL(join(folder, 'model.json')).href;
await writeFile(
  join(folder, 'model.json'),
  JSON.stringify({
    format: 'graph-model',
    modelTopology: graph,
    weightsManifest: [
      { paths: ['group1.bin'], weights: [weight('kernel', [INPUTS, UNITS])] },
      { paths: ['group2.bin'], weights: [weight('bias', [UNITS])] },
    ],
  }),
);
await writeFile(join(folder, 'group1.bin'), Buffer.from(kernel.buffer));
await writeFile(join(folder, 'group2.bin'), Buffer.from(bias.buffer));

function expected(row) {
  return Array.from({ length: UNITS }, (_, k) =>
    Math.max(
      0,
      row.reduce((sum, value, i) => sum + value * kernel[i * UNITS + k], bias[k]),
    ),
  );
}

onEachBackend('graph models', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });

  test('predicts, and once dropped its weights and results come back', async () => {
    const start = await collected();
    await (async () => {
      const model = await tf.loadGraphModel(url);
      assert.equal(tf.memory().numTensors, start + 2, 'its weights');
      for (let i = 0; i < 20; i++) {
        const row = [i, 1, -i];
        const y = model.predict(tf.tensor2d([row]));
        assert.deepEqual([...(await y.data())], expected(row));
      }
      await collected();
      assert.deepEqual(
        [...model.execute({ x: tf.tensor2d([[1, 2, 3]]) }).dataSync()],
        expected([1, 2, 3]),
      );
    })();
    assert.equal(await collected(), start);
  });

  test('loaded again and again: memory is flat', async () => {
    const start = await collected();
    await (async () => {
      for (let i = 0; i < 30; i++) (await tf.loadGraphModel(url)).predict(tf.ones([1, INPUTS]));
    })();
    assert.equal(await collected(), start);
  });

  test('dispose still ends it at once', async () => {
    const start = await collected();
    const model = await tf.loadGraphModel(url);
    model.dispose();
    assert.equal(tf.memory().numTensors, start);
  });
});
