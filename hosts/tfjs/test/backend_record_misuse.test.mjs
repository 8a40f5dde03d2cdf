// Recorded functions in hands that do odd things with them: the results are those of the functions, or an error says why.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const one = (value) => tf.tensor1d([value]);
const variable = (value) => tf.tidy(() => tf.variable(one(value)));
/** Calls, and the values of the result, which ends. */
const valuesOf = (run) => {
  const result = run();
  const all = [result].flat().map((each) => values(each)[0]);
  tf.dispose(result);
  return Array.isArray(result) ? all : all[0];
};
/** It stays: TensorFlow.js counts a byte less where a variable of text ends. */
const text = tf.tidy(() => tf.variable(tf.tensor1d(['a'])));
const disposed = { code: 'EBB_STALE_HANDLE', message: /disposed/ };

describe('a recorded function', () => {
  leavesNothing();

  test('that is given a tensor that is disposed says so, at any call', () => {
    for (const calls of [0, 1, 3]) {
      const fast = ebb.record((x) => x.add(1));
      const x = one(1);
      for (let i = 0; i < calls; i++) valuesOf(() => fast(x));
      x.dispose();
      for (let i = 0; i < 2; i++) assert.throws(() => fast(x), disposed);
      const y = one(2);
      assert.equal(
        valuesOf(() => fast(y)),
        3,
      );
      y.dispose();
      fast.dispose();
    }
  });

  test('gives what it is given as tensors of their own, which may end in any order', () => {
    const fast = ebb.record((x) => [x, x.add(1)]);
    const x = one(5);
    const results = [0, 1, 2, 3].map(() => fast(x));
    results[2][0].dispose();
    x.dispose();
    for (const [same, more] of [0, 1, 3].map((i) => results[i])) {
      assert.deepEqual([values(same), values(more)], [[5], [6]]);
      same.dispose();
    }
    tf.dispose(results);
    tf.dispose(results);
    fast.dispose();
    fast.dispose();
  });

  test('gives one tensor where the function gives one in several places', () => {
    for (const reuse of [false, true]) {
      const fast = ebb.record(
        (x) => {
          const y = x.add(1);
          return { y, list: [y, x.mul(2), y] };
        },
        { reuse },
      );
      let last;
      for (let i = 0; i < 4; i++) {
        const x = one(i);
        const before = tf.memory().numTensors;
        const result = fast(x);
        assert.equal(tf.memory().numTensors - before, reuse && i > 0 ? 0 : 2);
        assert.equal(result.y, result.list[0]);
        assert.equal(result.y, result.list[2]);
        assert.deepEqual([values(result.y), values(result.list[1])], [[i + 1], [2 * i]]);
        if (reuse && i > 0) assert.equal(result.y, last.y);
        last = result;
        tf.dispose(reuse ? x : [x, result]);
      }
      fast.dispose();
    }
  });

  test('may call itself, make another in itself, and forget itself', () => {
    const itself = ebb.record((x, times) => (times === 0 ? x : itself(x.add(1), times - 1)));
    const inner = ebb.record((x) => {
      const more = ebb.record((y) => y.add(1));
      return more(more(x));
    });
    const forgets = ebb.record((x) => {
      forgets.dispose();
      return x.add(2);
    });
    let calls = 0;
    const key = () => {
      if (++calls === 3) forgetsByKey.dispose();
      return 0;
    };
    const forgetsByKey = ebb.record((x) => x.add(2), { key });
    const x = one(1);
    for (let i = 0; i < 4; i++) {
      for (const fast of [(y) => itself(y, 2), inner, forgets, forgetsByKey]) {
        assert.equal(
          valuesOf(() => fast(x)),
          3,
        );
      }
    }
    x.dispose();
    for (const fast of [itself, inner, forgets, forgetsByKey]) fast.dispose();
  });

  test('whose key throws, or calls it, is as it was afterwards', () => {
    const x = one(1);
    const wide = tf.tensor2d([[1, 2]]);
    let fails = false;
    let deep = false;
    const key = () => {
      if (fails) throw new Error('no key');
      if (!deep) {
        deep = true;
        valuesOf(() => fast(x));
        deep = false;
      }
      return 1;
    };
    const fast = ebb.record((y) => y.add(1), { key });
    for (let i = 0; i < 6; i++) {
      fails = i % 2 === 1;
      if (fails) assert.throws(() => fast(wide), /no key/);
      else
        assert.deepEqual(
          valuesOf(() => [fast(wide), fast(x)]),
          [2, 2],
        );
    }
    tf.dispose([x, wide]);
    fast.dispose();
  });

  test('fills results again that were disposed of, given to it, or assigned to variables', () => {
    const fast = ebb.record((x) => [x.add(1), x.mul(2)], { reuse: true });
    const [x, v] = [one(1), variable(0)];
    for (let i = 0; i < 6; i++) {
      const results = fast(x);
      assert.deepEqual(results.map(values), [[2], [2]]);
      results[i % 2].dispose();
      if (i % 3 === 0) v.assign(fast(x)[0]);
    }
    let result = fast(x)[0];
    for (let i = 3; i < 7; i++) {
      [result] = fast(result);
      assert.deepEqual([values(result), values(v)], [[i], [2]]);
    }
    tf.tidy(() => fast(x)); // a scope does not take them
    assert.equal(result.isDisposed, false);
    fast.dispose();
    assert.deepEqual([result.isDisposed, values(v)], [true, [2]]);
    tf.dispose([x, v]);
  });

  test('whose variable is disposed of names it, also where another has its name then', () => {
    let v = tf.tidy(() => tf.variable(one(5), true, 'again'));
    const fast = ebb.record((x) => v.mul(x));
    const x = one(2);
    for (let i = 0; i < 3; i++) {
      assert.equal(
        valuesOf(() => fast(x)),
        10,
      );
    }
    v.dispose();
    v = tf.tidy(() => tf.variable(one(7), true, 'again'));
    assert.throws(
      () => fast(x),
      /variable "again", float32 \[1\] at .*misuse.*:\d+, that is disposed/,
    );
    fast.dispose(); // and it is recorded with the new one
    for (let i = 0; i < 3; i++) {
      assert.equal(
        valuesOf(() => fast(x)),
        14,
      );
    }
    tf.dispose([x, v]);
    fast.dispose();
  });

  test('that throws with scopes open, leaves one open or ends one too many does no more than that', () => {
    const engine = tf.engine();
    const depth = () => engine.state.scopeStack.length;
    const outer = depth();
    const x = tf.keep(one(1));
    const throws = ebb.record(() => {
      engine.startScope('mine');
      throw new Error('its own');
    });
    const leaves = ebb.record((y) => {
      engine.startScope('mine');
      return y.add(1);
    });
    const ends = ebb.record((y) => {
      engine.endScope();
      return y.add(1);
    });
    engine.startScope('around');
    for (let i = 0; i < 2; i++) assert.throws(() => throws(x), /its own/);
    for (let i = 0; i < 3; i++) assert.deepEqual(values(leaves(x)), [2]);
    while (depth() > outer) engine.endScope();
    for (let i = 0; i < 3; i++) {
      engine.startScope('around');
      engine.startScope('more');
      try {
        ends(x);
      } catch {
        // TensorFlow.js may have no scope left by then
      }
      while (depth() > outer) engine.endScope();
    }
    const fine = ebb.record((y) => y.add(1));
    for (let i = 0; i < 3; i++) {
      assert.equal(
        valuesOf(() => fine(x)),
        2,
      );
    }
    assert.equal(fine.info().replayed, 2);
    x.dispose();
    for (const fast of [throws, leaves, ends, fine]) fast.dispose();
  });

  test('that goes to another backend and comes back is left alone', async () => {
    const c = one(3);
    const fast = ebb.record((x) => {
      tf.setBackend('cpu');
      const sum = c.add(1);
      tf.setBackend('ebb');
      return sum.mul(x);
    });
    const x = one(2);
    const before = tf.memory().numTensors;
    for (let i = 0; i < 4; i++) {
      assert.equal(
        valuesOf(() => fast(x)),
        8,
      );
    }
    assert.equal(tf.memory().numTensors, before);
    const { replayed, reasons } = fast.info();
    assert.equal(replayed, 0);
    assert.deepEqual(Object.keys(reasons), ['it uses tensors of another backend']);
    tf.dispose([x, c]);
    fast.dispose();
  });

  test('may not look at variables on other backends, or of texts', async () => {
    await tf.setBackend('cpu');
    const there = variable(1);
    await tf.setBackend('ebb');
    const x = one(2);
    for (const guards of [false, true]) {
      const looks = ebb.record((y) => y.mul(there.dataSync()[0]), { guards });
      const reads = ebb.record((y) => y.mul(text.dataSync()[0].length), { guards });
      const later = ebb.record(
        (y) => {
          void there.data();
          return y.mul(2);
        },
        { guards },
      );
      for (const fast of [looks, reads, later]) {
        assert.throws(() => fast(x), /reads the values of a tensor at/);
        fast.dispose();
      }
    }
    assert.deepEqual([values(there), values(text)], [[1], ['a']]); // outside it may be read as ever
    assert.deepEqual([...(await there.data())], [1]);
    const uses = ebb.record((y) => y.mul(there));
    for (let i = 1; i < 4; i++) {
      assert.equal(
        valuesOf(() => uses(x)),
        2 * i,
      );
      tf.tidy(() => there.assign(one(i + 1)));
    }
    uses.dispose();
    tf.dispose([there, x]);
  });

  test('of a model that cannot be changed is refused in words', () => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
    const refused = { code: 'EBB_INVALID_ARGUMENT', message: /Received .*; allowed: .*not frozen/ };
    assert.throws(() => ebb.record(Object.preventExtensions(model)), refused);
    model.dispose();
  });

  test('tells arguments apart whose texts are alike', () => {
    const objects = [{ a: 1, b: 2 }, { 'a: 1, b': 2 }, [1, 2], ['1, 2'], [[1], 2]];
    const symbols = [Symbol('same'), Symbol('same'), Symbol('1')];
    symbols.push(Symbol.for('same'), Symbol.for('1'), Symbol.iterator);
    const given = [...symbols, 1, '1', -0, 0, 1n, undefined, 'undefined', null, 'null', ...objects];
    const isSame = (a, b) =>
      Object.is(a, b) || (objects.includes(a) && JSON.stringify(a) === JSON.stringify(b));
    const fast = ebb.record((x, what) => x.mul(given.findIndex((each) => isSame(each, what))), {
      cache: 32,
    });
    const x = one(1);
    for (let round = 0; round < 3; round++) {
      given.forEach((what, i) =>
        assert.equal(
          valuesOf(() => fast(x, what)),
          i,
        ),
      );
    }
    assert.equal(fast.info().recorded, given.length);
    x.dispose();
    fast.dispose();
  });

  test('takes typed arrays whose memory is gone, shared, or changes its size', () => {
    const fast = ebb.record((x, array) => x.mul(array.length).add(array.length > 0 ? array[0] : 0));
    const x = one(10);
    const check = (array, expected) => {
      for (let i = 0; i < 2; i++) {
        assert.equal(
          valuesOf(() => fast(x, array)),
          expected,
        );
      }
    };
    const moved = Float32Array.of(5, 6);
    check(moved, 25);
    globalThis.structuredClone(moved.buffer, { transfer: [moved.buffer] });
    check(moved, 0);
    const shared = new Float32Array(new SharedArrayBuffer(8));
    check(shared, 20);
    shared[0] = 3;
    check(shared, 23);
    const buffer = new ArrayBuffer(8, { maxByteLength: 64 });
    const growing = new Float32Array(buffer);
    check(growing, 20);
    buffer.resize(16);
    check(growing, growing.length === 4 ? 40 : 20); // Node has them from 20 on
    check(new Uint8ClampedArray([300, 2]), 275);
    check(new Float64Array([1, 2, 3]).subarray(1), 22);
    x.dispose();
    fast.dispose();
  });
});
