// Recorded graph models: what predict and execute give is what they give otherwise, and they are replayed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const FLOAT = { type: 'DT_FLOAT' };
const INT = { type: 'DT_INT32' };
const TYPES = {
  float32: ['DT_FLOAT', Float32Array],
  int32: ['DT_INT32', Int32Array],
};
const shapeOf = (sizes) => ({ dim: sizes.map((size) => ({ size: String(size) })) });
const node = (op, name, input, attr = {}) => ({ name, op, input, attr });
const input = (name, ...sizes) =>
  node('Placeholder', name, [], { dtype: FLOAT, shape: { shape: shapeOf(sizes) } });

/** A model as the converter writes it; constants by their names: { dtype, shape, data }. */
function load(nodes, constants, more = {}) {
  const specs = Object.entries(constants).map(([name, { dtype, shape }]) => ({
    name,
    dtype,
    shape,
  }));
  const parts = Object.values(constants).map(({ dtype, data }) =>
    Buffer.from(TYPES[dtype][1].from(data).buffer),
  );
  const consts = specs.map(({ name, dtype, shape }) => {
    const [type] = TYPES[dtype];
    return node('Const', name, [], {
      dtype: { type },
      value: { tensor: { dtype: type, tensorShape: shapeOf(shape) } },
    });
  });
  const artifacts = {
    modelTopology: { node: [...consts, ...nodes], versions: { producer: 1 }, ...more.topology },
    weightSpecs: specs,
    weightData: new Uint8Array(Buffer.concat(parts)).buffer,
    ...more.artifacts,
  };
  return tf.loadGraphModel({ load: async () => artifacts });
}

const float = (shape, data) => ({ dtype: 'float32', shape, data });
const ints = (...data) => ({ dtype: 'int32', shape: [data.length], data });
const int = (value) => ({ dtype: 'int32', shape: [], data: [value] });

/** relu(x * kernel + bias), and its rows' sums. */
const dense = (more) =>
  load(
    [
      input('x', -1, 3),
      node('MatMul', 'product', ['x', 'kernel'], { T: FLOAT }),
      node('BiasAdd', 'sum', ['product', 'bias'], { T: FLOAT }),
      node('Relu', 'y', ['sum'], { T: FLOAT }),
      node('Sum', 'total', ['sum', 'axis'], { T: FLOAT, Tidx: INT, keep_dims: { b: false } }),
    ],
    {
      kernel: float([3, 2], [1, -2, 3, 4, -5, 6]),
      bias: float([2], [0.5, -1]),
      axis: ints(1),
    },
    more,
  );

const infos = (name) => {
  const all = ebb.report({ json: true }).recorded;
  return Object.fromEntries(
    ['predict', 'execute'].map((part) => [
      part,
      all.findLast((each) => each.name === `${name}.${part}`),
    ]),
  );
};

/** Everything that a call gives, as plain values; disposes it. */
function taken(result) {
  const plain = (value) => {
    if (value instanceof tf.Tensor) return [value.shape, values(value)];
    if (Array.isArray(value)) return value.map(plain);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  };
  const all = plain(result);
  tf.dispose(result);
  return all;
}

/** The same calls of two models, of which one is recorded. */
async function compares(name, make, calls, { replayed, method = 'predict' }) {
  const [plain, fast] = [await make(), await make()];
  assert.equal(ebb.record(fast, { name, exact: true }), fast);
  for (let round = 0; round < 4; round++) {
    for (const call of calls) {
      assert.deepEqual(taken(call(fast, round)), taken(call(plain, round)));
    }
  }
  const info = infos(name)[method];
  assert.equal(info.replayed, replayed, JSON.stringify(info));
  plain.dispose();
  fast.dispose();
}

describe('a recorded graph model', () => {
  leavesNothing();
  const rows = (count, round) =>
    tf.tensor2d(
      Array.from({ length: 3 * count }, (_, i) => Math.sin(i + 7 * round)),
      [count, 3],
    );

  test('predicts, several outputs at once, batches of several sizes', () =>
    compares(
      'sizes',
      dense,
      [1, 4].map(
        (count) => (model, round) => tf.tidy(() => model.predict(rows(count, round))), // [y, total]
      ),
      { replayed: 6 },
    ));

  test('executes for outputs by name, inner ones too, with inputs as an object or an array', () => {
    const calls = [
      (model, x) => model.execute({ x }, 'y'),
      (model, x) => model.execute({ x }, ['sum', 'y', 'total']),
      (model, x) => model.execute([x], ['product']),
      (model, x) => model.execute(x, 'total'),
      (model, x) => model.execute({ x }),
    ];
    return compares(
      'named',
      dense,
      calls.map((call) => (model, round) => tf.tidy(() => call(model, rows(2, round)))),
      { replayed: 3 * calls.length, method: 'execute' },
    );
  });

  test('takes an object in predict, and gives one where its outputs have names', async () => {
    const outputs = { first: { name: 'total:0' }, second: { name: 'y:0' } };
    const structured = () =>
      dense({
        artifacts: {
          signature: { inputs: { x: { name: 'x:0', dtype: 'DT_FLOAT' } }, outputs },
          userDefinedMetadata: { structuredOutputKeys: ['first', 'second'] },
        },
      });
    const calls = [(model, round) => tf.tidy(() => model.predict({ x: rows(3, round) }))];
    await compares('structured', structured, calls, { replayed: 3 });
    const model = await structured();
    const result = tf.tidy(() => model.predict(rows(1, 0)));
    assert.deepEqual(Object.keys(result).sort(), ['first', 'second']);
    tf.dispose(result);
    model.dispose();
  });

  test('may read shapes and axes out of its constants and of its inputs` shapes', () => {
    // Flatten as converters write it: x.reshape([shape(x)[0], -1]), then a mean of rows that are side by side.
    const flatten = () =>
      load(
        [
          input('x', -1, 2, 3),
          node('Shape', 'shape', ['x'], { T: FLOAT, out_type: INT }),
          node('StridedSlice', 'batch', ['shape', 'zero', 'one', 'one'], {
            T: INT,
            Index: INT,
            shrink_axis_mask: { i: '1' },
          }),
          node('Pack', 'target', ['batch', 'rest'], { T: INT, N: { i: '2' }, axis: { i: '0' } }),
          node('Reshape', 'flat', ['x', 'target'], { T: FLOAT, Tshape: INT }),
          node('ConcatV2', 'wide', ['flat', 'flat', 'axis'], {
            T: FLOAT,
            Tidx: INT,
            N: { i: '2' },
          }),
          node('Mean', 'y', ['wide', 'axes'], { T: FLOAT, Tidx: INT, keep_dims: { b: true } }),
        ],
        { zero: ints(0), one: ints(1), rest: int(-1), axis: int(1), axes: ints(1) },
      );
    const calls = [2, 5].map(
      (count) => (model, round) =>
        tf.tidy(() => model.predict(rows(2 * count, round).reshape([count, 2, 3]))),
    );
    return compares('flatten', flatten, calls, { replayed: 6 });
  });

  test('is kept, and near what it was, without `exact` too', async () => {
    const [plain, fast] = [await dense(), ebb.record(await dense(), { name: 'near' })];
    const x = rows(40, 1);
    const wanted = plain.predict(x);
    const theirs = values(wanted[0]);
    for (let i = 0; i < 12; i++) {
      const results = fast.predict(x);
      values(results[0]).forEach((each, k) => assert.ok(Math.abs(each - theirs[k]) < 1e-5));
      tf.dispose(results);
    }
    assert.equal(infos('near').predict.replayed, 11);
    tf.dispose([x, wanted]);
    for (const each of [plain, fast]) each.dispose();
  });

  test('whose weights are disposed of is an error with its name', async () => {
    const model = ebb.record(await dense(), { name: 'gone' });
    const x = rows(1, 0);
    for (let i = 0; i < 2; i++) tf.dispose(model.predict(x));
    tf.dispose(Object.values(model.weights));
    const message =
      /"gone\.predict" uses a tensor, float32 \[[\d,]+\] at .*graph_models.test.mjs:\d+, that is disposed/;
    for (let i = 0; i < 2; i++) {
      assert.throws(() => model.predict(x), { code: 'EBB_STALE_HANDLE', message });
    }
    x.dispose();
    model.dispose();
  });

  test('is left alone where it draws numbers, and says why', async () => {
    const make = () =>
      load(
        [
          input('x', 4),
          node('RandomUniform', 'drawn', ['size'], { T: INT, dtype: FLOAT }),
          node('AddV2', 'y', ['x', 'drawn'], { T: FLOAT }),
        ],
        { size: ints(4) },
      );
    const model = ebb.record(await make(), { name: 'drawing' });
    const x = tf.zeros([4]);
    const seen = new Set();
    for (let i = 0; i < 4; i++) seen.add(taken(model.predict(x)).join());
    assert.equal(seen.size, 4);
    const { replayed, reasons } = infos('drawing').predict;
    assert.equal(replayed, 0);
    assert.deepEqual(reasons, { 'it uses random numbers other than those of dropout': 4 });
    x.dispose();
    model.dispose();
  });

  test('is left alone where it has control flow: predict says what to call, predictAsync is as it was', async () => {
    const make = () =>
      load(
        [
          input('x', 3),
          node('Sum', 'sum', ['x', 'axis'], { T: FLOAT, Tidx: INT, keep_dims: { b: false } }),
          node('Greater', 'isPositive', ['sum', 'zero'], { T: FLOAT }),
          node('Switch', 'either', ['x', 'isPositive'], { T: FLOAT }),
          node('Neg', 'negative', ['either'], { T: FLOAT }),
          node('Square', 'square', ['either:1'], { T: FLOAT }),
          node('Merge', 'y', ['negative', 'square'], { T: FLOAT, N: { i: '2' } }),
        ],
        { axis: ints(0), zero: float([], [0]) },
      );
    const [plain, fast] = [await make(), ebb.record(await make(), { name: 'branching' })];
    const given = [tf.tensor1d([1, 2, 3]), tf.tensor1d([-1, -2, 1])];
    const expected = [
      [1, 4, 9],
      [1, 2, -1],
    ];
    for (const model of [plain, fast]) {
      assert.throws(() => model.predict(given[0]), /dynamic op.*executeAsync/s);
      for (let i = 0; i < 4; i++) {
        assert.deepEqual(taken(await model.predictAsync(given[i % 2]))[1], expected[i % 2]);
        assert.deepEqual(taken(await model.executeAsync({ x: given[i % 2] }))[1], expected[i % 2]);
      }
      assert.deepEqual(taken(model.execute(given[0], 'isPositive'))[1], [1]); // a part without
    }
    const { predict, execute } = infos('branching');
    assert.deepEqual([predict.calls, predict.recorded, predict.replayed], [1, 0, 0]);
    assert.deepEqual([execute.recorded, execute.replayed], [1, 0]);
    tf.dispose(given);
    for (const each of [plain, fast]) each.dispose();
  });
});
