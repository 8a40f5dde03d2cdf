// Gradients where definitions differ: where functions bend, among equal elements, in padding, of infinities and NaN. The
// core's tape gives there what TensorFlow.js gives, to the bit or to its rounding.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf } from './backend_support.mjs';
import { assertSame, bothWays, numbers } from './backend_tape_support.mjs';

const ODD = [NaN, Infinity, -Infinity, 0, -0, 1, -1, 6, 0.5, -0.5, 7, -20];
const DYS = [NaN, Infinity, -Infinity, 0, 1, -2];
const every = (...lists) =>
  lists.reduce((all, list) => all.flatMap((some) => list.map((one) => [...some, one])), [[]]);
const column = (rows, i) => tf.tensor1d(rows.map((row) => row[i]));
const range = (shape, of = (i) => Math.sin(i * 1.7) + 0.37 * (i % 5)) =>
  tf.tensor(
    Array.from({ length: tf.util.sizeFromShape(shape) }, (_, i) => of(i)),
    shape,
  );
/** With equal elements. */
const tied = (shape) => range(shape, (i) => (i * 7) % 3);

/** Compares; all of it is native. */
function check(f, xs, dy) {
  const result = bothWays(numbers(() => tf.grads(f)(xs, dy)));
  assertSame(result);
  assert.equal(result.ours.error, undefined);
  assert.equal(result.native, 1);
  tf.dispose([xs, dy]);
  return result.ours.value;
}

const odd = (size) =>
  tf.tensor1d(
    Array.from({ length: size }, (_, i) => i % 2),
    'bool',
  );
const ONE = {
  ...{ abs: tf.abs, ceil: tf.ceil, expm1: tf.expm1, floor: tf.floor, log: tf.log, relu: tf.relu },
  ...{ relu6: tf.relu6, round: tf.round, rsqrt: tf.rsqrt, selu: tf.selu, sign: tf.sign },
  ...{ onesLike: tf.onesLike, zerosLike: tf.zerosLike, sqrt: tf.sqrt, tanh: tf.tanh },
  step: (x) => tf.step(x, 0.5),
  clipByValue: (x) => tf.clipByValue(x, -1, 1),
  leakyRelu: (x) => tf.leakyRelu(x, 0.3),
  'floor of log': (x) => tf.floor(tf.log(x)), // zeros reach the logarithm, and 0 / 0 is NaN
};
const TWO = {
  ...{ div: tf.div, maximum: tf.maximum, minimum: tf.minimum, mod: tf.mod, mul: tf.mul },
  ...{ pow: tf.pow, prelu: tf.prelu, squaredDifference: tf.squaredDifference },
  where: (a, b) => tf.where(odd(a.size), a, b),
};

describe('odd values', () => {
  leavesNothing();
  for (const [name, f] of Object.entries(ONE)) {
    test(`of ${name}`, () => {
      const rows = every(ODD, DYS);
      check(f, [column(rows, 0)], column(rows, 1));
    });
  }
  for (const [name, f] of Object.entries(TWO)) {
    test(`of ${name}`, () => {
      const rows = every(ODD, ODD, DYS);
      check(f, [column(rows, 0), column(rows, 1)], column(rows, 2));
    });
  }
  test('of where, with a condition for each row', () => {
    const f = (a, b) => tf.where(tf.tensor1d([1, 0], 'bool').expandDims(1), a, b).square();
    check(f, [range([2, 3]), tied([2, 3])]);
  });
  test('of a division by one number', () => {
    for (const by of [0, NaN, 3]) check(tf.div, [tf.tensor1d([1, 0, -1]), tf.scalar(by)]);
    check(tf.div, [tf.tensor2d([[1, 0]]), tf.tensor2d([[0]])]);
  });
});

describe('the slope', () => {
  leavesNothing();
  test('of abs at 0 is -1', () => {
    assert.deepEqual(check(tf.abs, [tf.tensor1d([-2, 0, -0, 3])]), [[-1, -1, -1, 1]]);
  });
  test('of each maximum is the whole', () => {
    assert.deepEqual(
      check((x) => tf.max(x), [tf.tensor1d([1, 5, 5])]),
      [[0, 1, 1]],
    );
    assert.deepEqual(
      check((x) => tf.min(x), [tf.tensor1d([1, 1, 5])]),
      [[1, 1, 0]],
    );
  });
  test('of maxima and minima along axes, of equal elements and of NaN', () => {
    const lines = [[1, 2, 2], [0, 0, 0], [NaN, 1, 2], [Infinity, 1, Infinity], [0, -0, 5]]; // prettier-ignore
    for (const [op, axes, keep, dy] of every(
      [tf.max, tf.min],
      [undefined, 0, 1, -1, [1, 0]],
      [false, true],
      DYS,
    )) {
      const f = (x) => op(x, axes, keep);
      const shape = tf.tidy(() => f(tf.zeros([5, 3])).shape);
      check(f, [tf.tensor2d(lines)], tf.fill(shape, dy));
    }
    for (const op of [tf.max, tf.min])
      for (const axes of [0, 1, [0, 2]]) check((x) => op(x, axes).square(), [tied([2, 3, 4])]);
  });
  test('of an average where windows lie in the padding', () => {
    const pads = ['same', 1, 0, [[0, 0], [1, 0], [0, 1], [0, 0]]]; // prettier-ignore
    for (const [pad, size, strides, mode] of every(
      pads,
      [1, 2, 3, [2, 3]],
      [1, 2, 3],
      ['floor', 'ceil'],
    )) {
      const rounding = pad === 'same' ? undefined : mode;
      const f = (x) => tf.avgPool(x, size, strides, pad, rounding).square();
      check(f, [range([2, 5, 6, 2])]);
    }
    check((x) => tf.avgPool(x, 2, 1, 'same').square(), [range([4, 3, 2])]);
    const broken = range([1, 4, 4, 1], (i) => (i === 5 ? NaN : i));
    check((x) => tf.avgPool(x, 2, 2, 'same').square(), [broken]);
  });
  test('of an average in three dimensions', () => {
    for (const [pad, size, strides] of every(['same', 1], [2, 3], [1, 2])) {
      const rounding = pad === 'same' ? undefined : 'floor';
      const f = (x) => tf.avgPool3d(x, size, strides, pad, rounding).square();
      check(f, [range([1, 4, 5, 4, 2])]);
    }
  });
  test('of what is mirrored', () => {
    const paddings = [[[1, 1], [0, 1]], [[0, 0], [2, 2]], [[0, 2], [1, 0]], [[0, 0], [0, 0]]]; // prettier-ignore
    for (const [by, mode] of every(paddings, ['reflect', 'symmetric']))
      check((x) => tf.mirrorPad(x, by, mode).square(), [range([3, 4])]);
  });
  test('of the largest average, and of norms', () => {
    check((x) => tf.max(tf.avgPool(tf.abs(x), 2, 2, 'same')), [tied([1, 5, 5, 2])]);
    for (const order of [1, 2, Infinity, -Infinity])
      check((x) => tf.norm(x, order, 1), [tied([3, 4])]);
  });
});

describe('second derivatives', () => {
  leavesNothing();
  const twice = (f) => (x) => tf.grad(f)(x);
  const cases = {
    abs: (x) => tf.abs(x).mul(x).mul(x),
    'abs of a product': (x) => tf.abs(x.square().sub(1)).square(),
    mirrorPad: (x) => tf.mirrorPad(x, [[2, 1]], 'reflect').pow(3),
    where: (x) => tf.where(odd(x.size), x.square(), x).square(),
    pow: (x) => tf.pow(x, 3),
    division: (x) => tf.div(x, x.square().add(1)),
  };
  for (const [name, f] of Object.entries(cases)) {
    test(`of ${name}`, () => void check(twice(f), [tf.tensor1d([-2, -1, -0.5, 0, 0.5, 1, 2])]));
  }
});

describe('losses', () => {
  leavesNothing();
  const labels = () => tf.tensor2d([[0, 1, 0]]);
  const { losses, metrics } = tf;
  const given = {
    absoluteDifference: losses.absoluteDifference,
    hingeLoss: losses.hingeLoss,
    huberLoss: losses.huberLoss,
    logLoss: losses.logLoss,
    sigmoidCrossEntropy: losses.sigmoidCrossEntropy,
    binaryCrossentropy: metrics.binaryCrossentropy,
    categoricalCrossentropy: metrics.categoricalCrossentropy,
    meanAbsoluteError: metrics.meanAbsoluteError,
    meanAbsolutePercentageError: metrics.meanAbsolutePercentageError,
  };
  for (const [name, loss] of Object.entries(given)) {
    test(`${name} is native`, () => {
      for (const p of [
        [0, 1, 0.5],
        [0.2, 0.9, 0.4],
        [0, 0, 0],
        [1, 0.5, NaN],
      ])
        // prettier-ignore
        check((predicted) => tf.mean(loss(labels(), predicted)), [tf.tensor2d([p])]);
    });
  }

  test('of a net with average pools and penalties train the same, all native', async () => {
    const { initializers, layers, regularizers } = tf;
    const train = async (loss) => {
      const kernelInitializer = () => initializers.glorotUniform({ seed: 5 });
      const model = tf.sequential();
      const conv = { filters: 3, kernelSize: 3, padding: 'same', activation: 'relu6' };
      const first = { inputShape: [7, 7, 1], kernelRegularizer: regularizers.l1l2() };
      model.add(layers.conv2d({ ...first, ...conv, kernelInitializer: kernelInitializer() }));
      model.add(layers.averagePooling2d({ poolSize: 2, padding: 'same' }));
      model.add(layers.globalMaxPooling2d({}));
      const last = { units: 1, activation: 'sigmoid', kernelInitializer: kernelInitializer() };
      model.add(layers.dense(last));
      model.compile({ optimizer: 'adam', loss });
      const x = tf.randomNormal([8, 7, 7, 1], 0, 1, 'float32', 3);
      const y = tf.tensor2d([0, 1, 1, 0, 1, 0, 0, 1], [8, 1]);
      const settings = { epochs: 3, batchSize: 4, shuffle: false, verbose: 0 };
      const { history } = await model.fit(x, y, settings);
      model.dispose();
      model.optimizer.dispose();
      tf.dispose([x, y]);
      return history.loss;
    };
    for (const loss of ['binaryCrossentropy', 'meanAbsoluteError']) {
      const before = ebb.tape.info().native;
      const ours = await train(loss);
      assert.equal(ebb.tape.info().native - before, 6);
      ebb.tape.off();
      const theirs = await train(loss).finally(() => ebb.tape.on());
      assertSame({ ours: { value: [ours] }, theirs: { value: [theirs] } });
    }
  });
});
