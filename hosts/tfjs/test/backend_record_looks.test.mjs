// What a recorded function may look at without guards: values that are the same in each call, and no others.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const variable = (value) => tf.tidy(() => tf.variable(tf.tensor1d([value, value])));
const REFUSED = {
  code: 'EBB_UNSUPPORTED',
  message: /reads the values of a tensor at .*:\d+; allowed/,
};

describe('a recorded function may look at', () => {
  leavesNothing();
  const outside = () => tf.tensor1d([3, 1], 'int32');
  const looks = {
    'a tensor from outside': (x, c) => x.reshape([...c.dataSync(), 2]),
    'a copy of one': (x, c) => x.mul(c.clone().arraySync()[0]),
    'what is made of one': (x, c) =>
      x.reshape(tf.concat([c, tf.tensor1d([2], 'int32')]).dataSync()),
    'constants of its own': (x) => x.sum(tf.tensor1d([1], 'int32').dataSync()[0]),
    'what is made of those': (x) => x.mul(tf.scalar(2).add(1).square().dataSync()[0]),
    'shapes as tensors': (x) => x.reshape(tf.tensor1d(x.shape, 'int32').reverse().dataSync()),
  };
  for (const [name, fn] of Object.entries(looks)) {
    test(name, () => {
      for (const options of [{}, { guards: true }, { reuse: true }, { fold: false }]) {
        const c = outside();
        let runs = 0;
        const fast = ebb.record((x) => {
          runs++;
          return fn(x, c);
        }, options);
        for (let i = 0; i < 5; i++) {
          const x = tf.tidy(() => tf.range(i, i + 6).reshape([3, 2]));
          const [ours, theirs] = [fast(x), tf.tidy(() => fn(x, c))];
          assert.deepEqual([ours.shape, values(ours)], [theirs.shape, values(theirs)]);
          tf.dispose(options.reuse ? [x, theirs] : [x, ours, theirs]);
        }
        assert.deepEqual([runs, fast.info().replayed], [1, 4]);
        fast.dispose();
        c.dispose();
      }
    });
  }
});

describe('a recorded function may not look at', () => {
  leavesNothing();
  const look = (tensor) => tensor.dataSync()[0];

  const refused = {
    'what it is given': (x) => x.mul(look(x)),
    'a view of it': (x) => x.mul(look(x.reshape([2, 1]))),
    'what is made of it and a constant': (x) => x.mul(look(tf.add(1, x))),
    'a variable': (x, v) => x.mul(look(v)),
    'what is made of a variable': (x, v) => x.mul(look(v.add(1))),
    'a variable after it was assigned to': (x, v) => {
      v.assign(v.add(1));
      return x.mul(look(v));
    },
    'what dropout leaves': (x) => x.mul(look(tf.dropout(tf.ones([2]), 0.5))),
    'a gradient': (x) => x.mul(look(tf.grad((y) => y.square().sum())(x))),
    'a gradient that variables are part of': (x, v) =>
      x.mul(look(Object.values(tf.variableGrads(() => v.square().sum(), [v]).grads)[0])),
  };
  for (const [name, fn] of Object.entries(refused)) {
    test(name, () => {
      const v = variable(2);
      const fast = ebb.record((x) => fn(x, v));
      const x = tf.tensor1d([1, 2]);
      for (let i = 0; i < 2; i++) assert.throws(() => fast(x), REFUSED);
      assert.equal(fast.info().recorded, 0);
      tf.dispose([x, v]);
    });
  }

  test('random numbers of TensorFlow.js: it is not replayed then', () => {
    const fast = ebb.record((x) => x.mul(look(tf.randomStandardNormal([1]))));
    const x = tf.ones([1]);
    const seen = new Set();
    for (let i = 0; i < 4; i++) {
      const y = fast(x);
      seen.add(values(y)[0]);
      y.dispose();
    }
    assert.deepEqual([seen.size, fast.info().replayed], [4, 0]);
    x.dispose();
  });

  test('results that another one fills again', () => {
    const fill = ebb.record((x) => x.mul(2), { reuse: true });
    const [one, two] = [1, 2].map((each) => tf.tensor1d([each, each]));
    const filled = fill(one);
    const copy = filled.clone();
    const uses = ebb.record((x) => x.mul(look(filled)));
    assert.throws(() => uses(one), REFUSED);
    fill(two); // the copy stays as it was: the tensor has other data now
    assert.deepEqual([values(copy)[0], values(filled)[0]], [2, 4]);
    assert.throws(() => uses(one), REFUSED);
    tf.dispose([one, two, copy]);
    fill.dispose();
  });

  test('a variable`s value after all, where it was assigned a constant before', () => {
    const v = variable(2);
    const fast = ebb.record((x) => {
      v.assign(tf.tensor1d([5, 5]));
      return x.mul(look(v));
    });
    const x = tf.tensor1d([1, 2]);
    for (let i = 0; i < 3; i++) {
      const y = fast(x);
      assert.deepEqual(
        [values(y), values(v)],
        [
          [5, 10],
          [5, 5],
        ],
      );
      y.dispose();
      tf.tidy(() => v.assign(tf.tensor1d([7, 7])));
    }
    assert.equal(fast.info().replayed, 2);
    fast.dispose();
    tf.dispose([x, v]);
  });
});
