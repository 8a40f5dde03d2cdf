// Recorded functions that are given one tensor in several places, or are methods of several objects: what they give is
// what the functions give.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const square = (seed) => tf.randomNormal([2, 2], 0, 1, 'float32', seed);
/** The values of all results, which end. */
const valuesOf = (run) => {
  const results = [run()].flat();
  const all = results.map(values);
  tf.dispose(results);
  return all;
};

describe('a recorded function sees one tensor', () => {
  leavesNothing();

  const attention = (q, k, v) =>
    tf
      .matMul(tf.matMul(q, k, false, true).softmax(), v)
      .square()
      .sum();
  const functions = {
    'in two arguments': [(a, b) => tf.grad((z) => z.mul(b))(a), (x) => [x, x]],
    'or two': [(a, b) => tf.grad((z) => z.mul(b))(a), (x, y) => [x, y]],
    'or two over the same data': [(a, b) => tf.grad((z) => z.mul(b))(a), (x, y, c) => [x, c]],
    'as query, key and value': [(q, k, v) => tf.grads(attention)([q, k, v]), (x) => [x, x, x]],
    'as query and value': [(q, k, v) => tf.grads(attention)([q, k, v]), (x, y) => [x, y, x]],
    'in structures': [
      ({ a, list }, b) => tf.grad((z) => z.mul(list[1]).add(list[0]).mul(b))(a),
      (x, y) => [{ a: x, list: [y, x] }, x],
    ],
    'as the same object': [
      (a, { b }, c) => a.mul((a === b ? 1 : 0) + (a === c ? 10 : 0) + (b === c ? 100 : 0)),
      (x, y) => [x, { b: y }, x],
    ],
  };
  for (const [name, [fn, choose]] of Object.entries(functions)) {
    test(name, () => {
      const fast = ebb.record(fn);
      for (let i = 0; i < 4; i++) {
        const [x, y] = [square(i), square(i + 10)];
        const clone = x.clone();
        const given = choose(x, y, clone);
        const exact = valuesOf(() => tf.tidy(() => fn(...given)));
        valuesOf(() => fast(...given)).forEach((each, k) =>
          each.forEach((value, at) => assert.ok(Math.abs(value - exact[k][at]) < 1e-5)),
        );
        tf.dispose([x, y, clone]);
      }
      assert.deepEqual([fast.info().recorded, fast.info().replayed], [1, 3]);
      fast.dispose();
    });
  }

  test('or two, from call to call', () => {
    const fn = (a, b, list) => tf.grad((z) => z.mul(b).mul(list[0]))(a);
    const fast = ebb.record(fn);
    const [x, y] = [square(1), square(2)];
    const calls = [
      [x, x, [x]],
      [x, x, [y]],
      [x, y, [x]],
      [x, y, [y]],
      [y, x, [x]],
    ];
    for (let round = 0; round < 3; round++) {
      for (const given of calls) {
        assert.deepEqual(
          valuesOf(() => fast(...given)),
          valuesOf(() => tf.tidy(() => fn(...given))),
        );
      }
    }
    assert.equal(fast.info().recorded, 4);
    tf.dispose([x, y]);
    fast.dispose();
  });
});

describe('a recorded method', () => {
  leavesNothing();

  const x = tf.keep(tf.tensor1d([1, 2]));
  const variable = (value) => tf.tidy(() => tf.variable(tf.scalar(value)));

  test('is that of its object', () => {
    class Scaled {
      constructor(value) {
        this.w = variable(value);
      }
      forward(y) {
        return y.mul(this.w);
      }
    }
    const { forward } = Scaled.prototype;
    Scaled.prototype.forward = ebb.record(forward);
    const all = [2, 10, -1].map((value) => new Scaled(value));
    for (let i = 0; i < 12; i++) {
      const each = all[i < 6 ? i % 3 : Math.floor(i / 3) % 3];
      assert.deepEqual(
        valuesOf(() => each.forward(x)),
        valuesOf(() => forward.call(each, x)),
      );
    }
    const { recorded, replayed } = Scaled.prototype.forward.info();
    assert.deepEqual([recorded, replayed], [3, 9]);
    Scaled.prototype.forward.dispose();
    tf.dispose(all.map(({ w }) => w));
  });

  test('tells an object from nothing, and values by what they are', () => {
    const fn = function (y) {
      return y.mul(typeof this === 'number' ? this : (this?.factor ?? 3));
    };
    const fast = ebb.record(fn);
    const objects = [{ factor: 5 }, { factor: 5 }, Object.assign([], { factor: 7 })];
    const receivers = [undefined, 4, 5, null, ...objects, new Float32Array(2)];
    for (let i = 0; i < 2; i++) {
      for (const receiver of receivers) {
        assert.deepEqual(
          valuesOf(() => fast.call(receiver, x)),
          valuesOf(() => fn.call(receiver, x)),
        );
      }
    }
    assert.deepEqual([fast.info().recorded, fast.info().replayed], [8, 8]);
    fast.dispose();
  });
});

describe('a recorded function', () => {
  test('has the name and the length of the function', () => {
    const named = (a, b) => a.add(b);
    for (const fn of [named, () => 0, (a, b = 1, c = a + b) => c, (...all) => all]) {
      const fast = ebb.record(fn, { name: 'in reports' });
      assert.deepEqual([fast.name, fast.length], [fn.name, fn.length]);
      assert.equal(fast.info().name, 'in reports');
    }
  });
});
