// Recorded functions: what they give is what the functions give, and nothing else is different.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collected, ebb, leavesNothing, tf, values } from './backend_support.mjs';

const bits = (tensor) => Array.from(new Uint32Array(Float32Array.from(values(tensor)).buffer));
const random = (shape, seed) => tf.randomNormal(shape, 0, 1, 'float32', seed);
/** Runs and disposes, with the result's bits. */
const bitsOf = (run) => {
  const result = run();
  const all = bits(result);
  result.dispose();
  return all;
};
const kernelsOf = async (run) => (await tf.profile(run)).kernels.map(({ name }) => name);

describe('a recorded function', () => {
  leavesNothing();

  test('gives what the function gives, with other values, without kernels of TensorFlow.js', async () => {
    const w = random([7, 5], 1);
    const fn = (x) => tf.tidy(() => tf.relu(tf.matMul(x, w).add(1)).mul(tf.scalar(0.3)));
    const fast = ebb.record(fn);
    for (let i = 0; i < 5; i++) {
      const x = random([3, 7], i + 10);
      assert.deepEqual(
        bitsOf(() => fast(x)),
        bitsOf(() => fn(x)),
      );
      x.dispose();
    }
    const x = random([3, 7], 3);
    let y;
    assert.deepEqual(await kernelsOf(() => (y = fast(x))), []);
    assert.deepEqual(fast.info().calls, 6);
    assert.deepEqual(fast.info().replayed, 5);
    tf.dispose([x, y, w]);
    fast.dispose();
  });

  test('takes and gives arrays, objects, plain values and nothing', () => {
    const fn = ({ a, list }, times, flag) => ({
      sum: flag ? a.add(list[0]) : a,
      parts: [list[1].mul(times), 'word', null],
      times,
    });
    const fast = ebb.record(fn);
    const [a, b, c] = [1, 2, 3].map((seed) => random([4], seed));
    for (const times of [2, 2, 3, 2, 3]) {
      const given = [{ a, list: [b, c] }, times, true];
      const [ours, theirs] = [fast(...given), fn(...given)];
      assert.deepEqual(bits(ours.sum), bits(theirs.sum));
      assert.deepEqual(bits(ours.parts[0]), bits(theirs.parts[0]));
      assert.deepEqual([ours.parts.slice(1), ours.times], [['word', null], times]);
      tf.dispose([ours, theirs]);
    }
    assert.deepEqual([fast.info().recorded, fast.info().replayed], [2, 3]);
    const nothing = ebb.record(() => undefined);
    assert.equal(nothing(), undefined);
    assert.equal(nothing(), undefined);
    tf.dispose([a, b, c]);
    fast.dispose();
  });

  test('is recorded again for other shapes, in a bounded cache', () => {
    const fast = ebb.record((x) => x.square().sum(), { cache: 3, name: 'squares' });
    for (let round = 0; round < 2; round++) {
      for (let size = 1; size <= 5; size++) {
        const x = tf.ones([size]);
        const y = fast(x);
        assert.deepEqual(values(y), [size]);
        tf.dispose([x, y]);
      }
    }
    const info = fast.info();
    assert.equal(info.programs, 3);
    assert.equal(info.recorded, 10);
    assert.equal(info.reasons['other shapes, dtypes or constants'], 9);
    assert.match(ebb.report(), /squares: 10 calls, 0 replayed, recorded 10 times \(3 programs/);
    assert.ok(ebb.report({ json: true }).recorded.some(({ name }) => name === 'squares'));
    fast.dispose();
  });

  test('knows which arguments are the same tensor', () => {
    const fast = ebb.record((a, b) => a.sub(b));
    const [a, b] = [random([3], 1), random([3], 2)];
    for (const [x, y] of [
      [a, a],
      [a, b],
      [b, b],
      [b, a],
    ]) {
      assert.deepEqual(
        bitsOf(() => fast(x, y)),
        bitsOf(() => x.sub(y)),
      );
    }
    tf.dispose([a, b]);
    fast.dispose();
  });

  test('compares typed arrays by content, and functions by identity', () => {
    const values_ = new Float32Array([1, 2]);
    const fast = ebb.record((x, array, how) => tf.tidy(() => how(x.add(tf.tensor1d(array)))));
    const x = tf.tensor1d([10, 10]);
    const [square, negative] = [(y) => y.square(), (y) => y.neg()];
    for (const first of [1, 5, 5, 1]) {
      values_[0] = first;
      for (const how of [square, negative]) {
        assert.deepEqual(
          bitsOf(() => fast(x, values_, how)),
          bitsOf(() => tf.tidy(() => how(x.add(tf.tensor1d(values_))))),
        );
      }
    }
    assert.deepEqual([fast.info().recorded, fast.info().replayed], [4, 4]);
    x.dispose();
    fast.dispose();
  });

  test('tells what it is given from what it has anyway', () => {
    const c = random([3], 1);
    const d = random([3], 2);
    const fast = ebb.record((x) => x.sub(c));
    for (const x of [c, d, c]) {
      assert.deepEqual(
        bitsOf(() => fast(x)),
        bitsOf(() => x.sub(c)),
      );
    }
    tf.dispose([c, d]);
    fast.dispose();
  });

  test('takes reshaped tensors, and gives them', () => {
    const fast = ebb.record((x) => [x.reshape([6]), x.transpose().reshape([2, 3]).add(1)]);
    for (let i = 0; i < 3; i++) {
      const flat = random([6], i);
      const x = flat.reshape([3, 2]);
      const [one, two] = fast(x);
      const wanted = tf.tidy(() => x.transpose().reshape([2, 3]).add(1));
      assert.deepEqual([one.shape, two.shape], [[6], [2, 3]]);
      assert.deepEqual(bits(one), bits(flat));
      assert.deepEqual(bits(two), bits(wanted));
      tf.dispose([flat, x, one, two, wanted]);
    }
    fast.dispose();
  });

  test('updates variables, for everybody to see', () => {
    const v = tf.tidy(() => tf.variable(tf.tensor1d([1, 2])));
    const w = tf.tidy(() => tf.variable(tf.tensor1d([10, 20])));
    const seen = v.clone();
    const fast = ebb.record((x) => {
      const old = v.mul(1);
      v.assign(v.add(x));
      w.assign(v);
      return old;
    });
    const x = tf.tensor1d([1, 1]);
    for (let i = 0; i < 4; i++) {
      assert.deepEqual(values(v), [1 + i, 2 + i]);
      const old = fast(x);
      assert.deepEqual(values(old), [1 + i, 2 + i]);
      assert.deepEqual(values(w), [2 + i, 3 + i]);
      old.dispose();
    }
    tf.tidy(() => v.assign(tf.tensor1d([5, 5])));
    tf.dispose(fast(x));
    assert.deepEqual(values(v), [6, 6]);
    assert.deepEqual(values(seen), [1, 2]);
    tf.dispose([x, v, w, seen]);
    fast.dispose();
  });

  test('refuses to look at values, and says where', () => {
    const fast = ebb.record(
      (x) => {
        const y = x.mul(2);
        return y.dataSync()[0] > 0 ? y : x.neg();
      },
      { name: 'looks' },
    );
    const x = tf.tensor1d([1]);
    for (let i = 0; i < 2; i++) {
      assert.throws(
        () => fast(x),
        /"looks" reads the values of a tensor at .*backend_record.test.mjs:\d+;/,
      );
    }
    assert.deepEqual(values(x), [1]);
    x.dispose();
  });

  test('refuses promises, and passes on what the function throws', () => {
    const late = ebb.record(async (x) => x);
    const x = tf.tensor1d([1]);
    assert.throws(() => late(x), /returns a promise/);
    const wrong = ebb.record((y) => y.matMul(y));
    assert.throws(() => wrong(x), /rank/);
    assert.throws(() => wrong(x), /rank/);
    const own = ebb.record(() => {
      throw new Error('its own');
    });
    assert.throws(own, /its own/);
    // Nothing is recorded any more, and the next function is.
    const sum = x.add(1);
    assert.deepEqual(values(sum), [2]);
    const fine = ebb.record((y) => y.add(sum));
    for (let i = 0; i < 3; i++) {
      const y = fine(x);
      assert.deepEqual(values(y), [3]);
      y.dispose();
    }
    assert.equal(fine.info().replayed, 2);
    assert.deepEqual(
      [late, wrong, own].map((each) => each.info().replayed),
      [0, 0, 0],
    );
    tf.dispose([x, sum]);
    fine.dispose();
  });

  test('names a captured tensor that was disposed', () => {
    const c = tf.tensor1d([1, 2, 3]);
    const v = tf.tidy(() => tf.variable(tf.scalar(1), true, 'gone_soon'));
    const [ofTensor, ofVariable] = [
      ebb.record((x) => x.add(c), { name: 'uses c' }),
      ebb.record((x) => x.add(v), { name: 'uses v' }),
    ];
    const x = tf.tensor1d([1, 1, 1]);
    for (const fast of [ofTensor, ofVariable]) tf.dispose([fast(x), fast(x)]);
    tf.dispose([c, v]);
    assert.throws(
      () => ofTensor(x),
      /"uses c" uses a tensor, float32 \[3\] at .*backend_record.test.mjs:\d+, that is disposed/,
    );
    assert.throws(() => ofVariable(x), /"uses v" uses a variable "gone_soon", float32 \[\]/);
    x.dispose();
    for (const fast of [ofTensor, ofVariable]) fast.dispose();
  });

  test('leaves alone what keeps, disposes, makes or draws', () => {
    const kept = [];
    const keeps = ebb.record((x) => {
      kept.push(tf.keep(x.add(1)));
      return x.add(2);
    });
    const disposes = ebb.record((x) => {
      const y = x.add(1);
      x.dispose();
      return y;
    });
    const draws = ebb.record((x) => x.add(tf.randomUniform([3])));
    const made = [];
    const makes = ebb.record((x) => {
      made.push(tf.variable(x));
      return x.add(1);
    });
    const x = tf.tensor1d([1, 2, 3]);
    const drawn = new Set();
    for (let i = 0; i < 5; i++) {
      const own = x.clone();
      const result = draws(x);
      drawn.add(bits(result).join());
      tf.dispose([keeps(x), disposes(own), makes(x), result]);
      assert.equal(own.isDisposed, true);
    }
    assert.deepEqual([drawn.size, kept.length, made.length], [5, 5, 5]);
    for (const fast of [keeps, disposes, draws, makes]) {
      assert.equal(fast.info().replayed, 0);
      fast.dispose();
    }
    assert.match(Object.keys(draws.info().reasons)[0], /random numbers/);
    tf.dispose([x, kept, made]);
  });

  for (const reclaims of [false, true]) {
    test(`draws anew for dropout, reclaim ${reclaims ? 'on' : 'off'}`, async () => {
      if (reclaims) ebb.reclaim.on();
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = reclaims ? 2 : stackTraceLimit;
      const fast = ebb.record((x) => tf.dropout(x, 0.5));
      const x = tf.ones([200]);
      const seen = new Set();
      for (let i = 0; i < 5; i++) {
        const y = fast(x);
        const all = values(y);
        assert.ok(all.every((each) => each === 0 || each === 2));
        const dropped = all.filter((each) => each === 0).length;
        assert.ok(dropped > 60 && dropped < 140, `${dropped}`);
        seen.add(all.join());
        y.dispose();
      }
      assert.deepEqual([seen.size, fast.info().replayed], [5, 4]);
      x.dispose();
      fast.dispose();
      Error.stackTraceLimit = stackTraceLimit;
      ebb.reclaim.off();
      await collected();
    });
  }

  test('notices shapes that depend on values', () => {
    const fast = ebb.record((x) => {
      const { values: found } = tf.unique(x);
      return found.add(1);
    });
    for (const given of [
      [1, 2, 2],
      [3, 4, 4],
      [5, 5, 5],
      [1, 2, 3],
    ]) {
      const x = tf.tensor1d(given);
      const y = fast(x);
      assert.deepEqual(
        values(y),
        [...new Set(given)].map((each) => each + 1),
      );
      tf.dispose([x, y]);
    }
    fast.dispose();
  });

  test('steps aside where a gradient is taken, another recording runs, another backend is in use', async () => {
    const inner = ebb.record((x) => x.square(), { name: 'inner' });
    const outer = ebb.record((x) => inner(x).add(1), { name: 'outer' });
    const x = tf.tensor1d([3]);
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(
        bitsOf(() => outer(x)),
        bitsOf(() => tf.tidy(() => x.square().add(1))),
      );
      tf.dispose(inner(x));
      const slope = tf.grad((y) => inner(y))(x);
      assert.deepEqual(values(slope), [6]);
      slope.dispose();
    }
    await tf.setBackend('cpu');
    const there = inner(x);
    assert.deepEqual(values(there), [9]);
    await tf.setBackend('ebb');
    const again = inner(x); // x has moved there meanwhile
    assert.deepEqual(values(again), [9]);
    tf.dispose([x, there, again]);
    inner.dispose();
    outer.dispose();
  });

  test('belongs to scopes like any other', () => {
    const fast = ebb.record((x) => x.add(1));
    const x = tf.scalar(1);
    fast(x).dispose();
    let kept;
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      fast(x);
      kept = tf.keep(fast(x));
    });
    assert.equal(tf.memory().numTensors, before + 1);
    assert.deepEqual(values(kept), [2]);
    tf.dispose([x, kept]);
    fast.dispose();
  });

  test('leaves everything as it was where memory runs out in the middle', () => {
    const v = tf.tidy(() => tf.variable(tf.zeros([256, 1024])));
    const fast = ebb.record((x) => {
      const wide = tf.concat([x, x, x, x]);
      v.assign(v.add(1));
      return tf.concat([wide, wide, wide, wide]).sum();
    });
    const x = tf.ones([256, 1024]);
    for (let i = 0; i < 2; i++) fast(x).dispose();
    const budget = ebb.budget();
    const before = [tf.memory().numTensors, tf.memory().numBytes, tf.backend().numDataIds()];
    ebb.trim();
    ebb.budget(ebb.memory().liveBytes + (6 << 20), { strict: true });
    try {
      assert.throws(() => fast(x), /memory|budget/i);
      assert.deepEqual(
        [tf.memory().numTensors, tf.memory().numBytes, tf.backend().numDataIds()],
        before,
      );
    } finally {
      ebb.budget(budget, { strict: false });
    }
    assert.equal(v.dataSync()[0], 2);
    fast(x).dispose();
    assert.equal(v.dataSync()[0], 3);
    tf.dispose([v, x]);
    fast.dispose();
  });

  test('is given back what it drops while reclaim is on', async () => {
    ebb.reclaim.on();
    try {
      const v = tf.variable(tf.zeros([64]));
      const c = tf.ones([64]);
      const fast = ebb.record((x) => {
        v.assign(v.add(c));
        return x.mul(v).sum();
      });
      const x = tf.ones([64]);
      for (let i = 0; i < 3000; i++) fast(x);
      assert.equal(v.dataSync()[0], 3000);
      await collected();
      assert.ok(tf.memory().numTensors < 500, `${tf.memory().numTensors}`);
      tf.dispose([v, x, c]);
      fast.dispose();
    } finally {
      ebb.reclaim.off();
    }
    await collected();
  });

  test('says what it takes', () => {
    assert.throws(() => ebb.record(3), /a function, or a model/);
    assert.throws(() => ebb.record((x) => x, { cache: 0 }), /whole number/);
    assert.throws(() => ebb.record((x) => x, { other: 1 }), /other/);
  });
});
