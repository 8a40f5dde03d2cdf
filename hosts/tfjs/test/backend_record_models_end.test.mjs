// What recorded models keep between calls, and how it ends.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const KB = 2 ** 10;
const UNITS = 256;
const WEIGHTS = 2 * 4 * UNITS * UNITS;
const live = () => ebb.report({ json: true }).books.bytes.live;
const dense = (more) => tf.layers.dense({ units: UNITS, activation: 'relu', ...more });

function sequential() {
  const model = tf.sequential({ layers: [dense({ inputShape: [UNITS] }), dense()] });
  model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
  return model;
}

function functional() {
  const input = tf.input({ shape: [UNITS] });
  const model = tf.model({ inputs: input, outputs: dense().apply(dense().apply(input)) });
  model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
  return model;
}

/** x * kernel * kernel. */
function graph() {
  const FLOAT = { type: 'DT_FLOAT' };
  const shapeOf = (...sizes) => ({ dim: sizes.map((size) => ({ size: String(size) })) });
  const product = (name, of) => ({ op: 'MatMul', name, input: [of, 'kernel'], attr: { T: FLOAT } });
  const tensor = { dtype: 'DT_FLOAT', tensorShape: shapeOf(UNITS, 2 * UNITS) };
  const nodes = [
    {
      op: 'Placeholder',
      name: 'x',
      input: [],
      attr: { dtype: FLOAT, shape: { shape: shapeOf(-1, UNITS) } },
    },
    { op: 'Const', name: 'kernel', input: [], attr: { dtype: FLOAT, value: { tensor } } },
    product('y', 'x'),
  ];
  return tf.loadGraphModel({
    load: async () => ({
      modelTopology: { node: nodes, versions: { producer: 1 } },
      weightSpecs: [{ name: 'kernel', dtype: 'float32', shape: [UNITS, 2 * UNITS] }],
      weightData: new Float32Array(2 * UNITS * UNITS).fill(1e-3).buffer,
    }),
  });
}

describe('a recorded model', () => {
  leavesNothing();

  for (const [name, make] of Object.entries({ sequential, functional, graph })) {
    /** A model that was used, and how many bytes there were without it. */
    const used = async (options) => {
      ebb.trim();
      const before = live();
      const model = ebb.record(await make(), { name: `${name}, to end`, ...options });
      const x = tf.ones([8, UNITS]);
      const predict = () => {
        const y = model.predict(x);
        const all = values(y);
        y.dispose();
        return all;
      };
      for (let i = 0; i < 4; i++) predict();
      return { before, model, x, predict };
    };

    test(`that is ${name} lets go of what it keeps when it is disposed of`, async () => {
      for (const reuse of [false, true]) {
        const { before, model, x, predict } = await used({ reuse });
        const first = predict();
        x.dispose();
        const packed = live() - before - WEIGHTS;
        assert.ok(packed > WEIGHTS * 0.9, `${packed} bytes are kept`);
        model.dispose();
        ebb.trim();
        assert.ok(live() - before < 16 * KB, `${live() - before} bytes are left`);
        assert.equal(first.length % UNITS, 0);
        const { calls, replayed, programs } = ebb.recorded(model).info().predict;
        assert.deepEqual([calls, replayed, programs], [5, 4, 0]);
      }
    });

    test(`that is ${name} is recorded again once it was told to forget`, async () => {
      const { before, model, x, predict } = await used();
      const first = predict();
      const { predict: info, ...others } = ebb.recorded(model).info();
      assert.equal(info.name, `${name}, to end.predict`);
      assert.deepEqual([info.calls, info.replayed, info.programs], [5, 4, 1]);
      assert.deepEqual(Object.keys(others), name === 'graph' ? ['execute'] : []);
      ebb.recorded(model).dispose();
      assert.ok(live() - before - WEIGHTS < 32 * KB, `${live() - before - WEIGHTS}`);
      assert.equal(ebb.recorded(model).info().predict.programs, 0);
      for (let i = 0; i < 4; i++) assert.deepEqual(predict().length, first.length);
      const again = ebb.recorded(model).info().predict;
      assert.deepEqual([again.calls, again.replayed, again.recorded], [9, 7, 2]);
      x.dispose();
      model.dispose();
    });
  }

  test('that is disposed of says so as TensorFlow.js does', () => {
    const [recorded, plain] = [ebb.record(sequential()), sequential()];
    const x = tf.ones([1, UNITS]);
    for (let i = 0; i < 3; i++) recorded.predict(x).dispose();
    const errors = [recorded, plain].map((model) => {
      const ended = model.dispose();
      assert.throws(() => model.dispose(), /already disposed/);
      try {
        model.predict(x);
        return 'none';
      } catch ({ message }) {
        return [ended, message.replaceAll(/\d+/g, '')];
      }
    });
    assert.deepEqual(errors[0], errors[1]);
    assert.match(errors[0][1], /disposed/);
    x.dispose();
  });

  test('that was never recorded has none', () => {
    const model = sequential();
    assert.equal(ebb.recorded(model), undefined);
    for (const other of [3, undefined, null, () => 0]) {
      assert.throws(() => ebb.recorded(other), { message: /\[recorded\].*allowed: a model/ });
    }
    model.dispose();
  });
});
