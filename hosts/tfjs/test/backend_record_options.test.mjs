// What recorded functions can be told: to check what they look at, to fill the same tensors, to be exact.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const random = (shape, seed) => tf.randomNormal(shape, 0, 1, 'float32', seed);
/** Of this process; 0 where that cannot be asked. */
const threads = () => (process.platform === 'linux' ? readdirSync('/proc/self/task').length : 0);
const variable = (shape, seed) => tf.tidy(() => tf.variable(random(shape, seed)));
/** Runs and disposes, with the result's bits. */
const bitsOf = (run) => {
  const result = run();
  const all = Array.from(new Uint32Array(Float32Array.from(values(result)).buffer));
  result.dispose();
  return all;
};

describe('a recorded function', () => {
  leavesNothing();

  test('looks at values again where it is guarded', () => {
    const runs = [];
    const fn = (x, y) => {
      const sum = x.sum();
      runs.push(sum.dataSync()[0]);
      if (sum.dataSync()[0] > 0) return y.mul(2);
      return x.min().dataSync()[0] < -5 ? y.neg() : y.add(sum.arraySync());
    };
    const fast = ebb.record(fn, { name: 'guarded', guards: true });
    const y = tf.tensor1d([1, 2]);
    const call = (given) => {
      const x = tf.tensor1d(given);
      const all = bitsOf(() => fast(x, y));
      const before = runs.length;
      assert.deepEqual(
        all,
        bitsOf(() => tf.tidy(() => fn(x, y))),
      );
      runs.length = before;
      x.dispose();
    };
    for (let i = 0; i < 3; i++) {
      call([3, -1]);
      call([-3, 1]);
      call([-8, 6]);
      call([1, -3]); // as the second
    }
    assert.deepEqual(runs, [2, -2, -2]);
    const { replayed, recorded, programs, reasons } = fast.info();
    assert.deepEqual([replayed, recorded, programs], [9, 3, 3]);
    assert.deepEqual(reasons, { 'values that it looks at were others': 2 });
    y.dispose();
    fast.dispose();
  });

  test('assigns nothing where what it looks at is different, and keeps few recordings', () => {
    const v = tf.tidy(() => tf.variable(tf.scalar(0)));
    const fast = ebb.record(
      (x) => {
        v.assign(v.add(1));
        return x.mul(x.dataSync()[0]);
      },
      { guards: true, cache: 2 },
    );
    for (let i = 0; i < 6; i++) {
      const x = tf.scalar(i % 3);
      const y = fast(x);
      assert.deepEqual([values(y)[0], values(v)[0]], [(i % 3) ** 2, i + 1]);
      tf.dispose([x, y]);
    }
    assert.equal(fast.info().programs, 2);
    v.dispose();
    fast.dispose();
  });

  test('runs the function where a guarded recording goes wrong', () => {
    const fast = ebb.record(
      (at) => (at.dataSync()[0] > 2 ? at.neg() : tf.gather(tf.tensor1d([5, 6, 7]), at)),
      { guards: true },
    );
    for (const [given, expected] of [
      [1, 6],
      [9, -9],
      [1, 6],
    ]) {
      const at = tf.tensor1d([given], 'int32');
      const y = fast(at);
      assert.deepEqual(values(y), [expected]);
      tf.dispose([at, y]);
    }
    fast.dispose();
  });

  test('gives the same tensors where it is told to', () => {
    const fast = ebb.record((x) => ({ twice: x.mul(2), more: [x.add(1)] }), { reuse: true });
    const x = [1, 2, 3, 4, 5].map((each) => tf.tensor1d([each, -each]));
    const first = fast(x[0]);
    const own = tf.tidy(() => tf.clone(fast(x[1]).twice));
    const results = tf.tidy(() => x.slice(2).map((each) => fast(each)));
    for (const each of results) {
      assert.equal(each.twice, first.twice);
      assert.equal(each.more[0], first.more[0]);
    }
    assert.deepEqual(
      [values(first.twice), values(first.more[0])],
      [
        [10, -10],
        [6, -4],
      ],
    );
    assert.deepEqual(values(own), [4, -4]); // what was made of them stays as it was
    first.twice.dispose();
    const other = fast(x[0]);
    assert.deepEqual(values(other.twice), [2, -2]);
    tf.dispose([x, own]);
    fast.dispose();
    assert.equal(other.twice.isDisposed, true);
  });

  test('is to the bit what the function gives where it is exact, and near it where it is not', () => {
    const [w, b, filter] = [random([7, 33], 1), random([33], 2), random([3, 3, 5, 33], 3)];
    const fns = [
      (x) => tf.tidy(() => tf.relu(tf.matMul(x.reshape([-1, 7]), w).add(b))),
      (x) =>
        tf.tidy(() =>
          tf
            .sigmoid(tf.conv2d(x, filter, 1, 'same').add(b))
            .mul(3)
            .tanh(),
        ),
      (x) => tf.tidy(() => tf.matMul(w, x.reshape([-1, 7]).transpose(), true, false).elu()),
    ];
    const x = random([2, 7, 4, 5], 4);
    for (const fn of fns) {
      const expected = tf.tidy(() => Array.from(values(fn(x))));
      const counts = [];
      for (const more of [{}, { exact: true }, { join: false, fuse: false, absorb: false }]) {
        const fast = ebb.record(fn, more);
        tf.dispose(fast(x));
        const y = fast(x);
        assert.ok(values(y).every((each, i) => Math.abs(each - expected[i]) < 1e-4));
        if ('exact' in more || 'join' in more) {
          assert.deepEqual(Array.from(values(y)), expected);
        }
        counts.push(fast.info().replayed);
        y.dispose();
        fast.dispose();
      }
      assert.deepEqual(counts, [1, 1, 1]);
    }
    tf.dispose([w, b, filter, x]);
    assert.throws(() => ebb.record(fns[0], { exact: 1 }), /exact/);
    assert.throws(() => ebb.record(fns[0], { exactly: true }), /exactly/);
  });

  test('keeps what it made of variables as long as they are the same', () => {
    const [w, mean] = [variable([6, 9], 1), variable([9], 2)];
    const variance = tf.ones([9]);
    const fn = (x) => tf.tidy(() => tf.relu(tf.batchNorm(tf.matMul(x, w), mean, variance)));
    for (const more of [{}, { keep: false }, { exact: true }]) {
      const fast = ebb.record(fn, more);
      for (let i = 0; i < 9; i++) {
        if (i === 4) tf.tidy(() => w.assign(random([6, 9], 30)));
        if (i === 6) tf.tidy(() => mean.assign(random([9], 40)));
        const x = random([8, 6], 5 + i);
        const [y, expected] = [fast(x), fn(x)];
        const wanted = Array.from(values(expected));
        if ('exact' in more) assert.deepEqual(Array.from(values(y)), wanted);
        assert.ok(values(y).every((each, k) => Math.abs(each - wanted[k]) < 1e-4));
        tf.dispose([x, y, expected]);
      }
      assert.equal(fast.info().replayed, 8);
      fast.dispose();
    }
    tf.dispose([w, mean, variance]);
    assert.throws(() => ebb.record(fn, { keep: 1 }), /keep/);
  });

  test('writes over variables that nobody else sees, and leaves others to who has them', () => {
    const world = (more) => {
      const w = variable([6, 5], 1);
      const optimizer = tf.train.adam(0.01);
      const loss = (x) => () => tf.matMul(x, w).square().mean();
      return {
        w,
        optimizer,
        step: ebb.record((x) => optimizer.minimize(loss(x), true, [w]), more),
      };
    };
    const [over, plain] = [world({}), world({ overwrite: false })];
    for (let i = 0; i < 8; i++) {
      const x = random([4, 6], 10 + i);
      const copy = i > 4 ? over.w.clone() : undefined;
      const before = bitsOf(() => over.w.clone());
      assert.deepEqual(
        bitsOf(() => over.step(x)),
        bitsOf(() => plain.step(x)),
      );
      assert.deepEqual(
        bitsOf(() => over.w.clone()),
        bitsOf(() => plain.w.clone()),
      );
      assert.notDeepEqual(
        bitsOf(() => over.w.clone()),
        before,
      );
      if (copy !== undefined)
        assert.deepEqual(
          bitsOf(() => copy),
          before,
        );
      x.dispose();
    }
    assert.ok(over.step.info().replayed > 4);
    for (const { w, optimizer, step } of [over, plain]) {
      w.dispose();
      optimizer.dispose();
      step.dispose();
    }
    assert.throws(() => ebb.record(() => 0, { overwrite: 'yes' }), /overwrite/);
  });

  test('gives the same bits with and without threads that help', () => {
    // Of arguments: what depends on captured tensors alone is kept, and takes no time.
    const [x, w, q] = [random([32, 784], 1), random([784, 128], 2), random([8, 128, 32], 3)];
    const fn = (a, b) =>
      tf.tidy(() =>
        tf
          .matMul(tf.matMul(b, b, false, true), b)
          .sum()
          .add(a.matMul(w).tanh().sum()),
      );
    /** The bits of each replay. */
    const replays = (options) => {
      const fast = ebb.record(fn, options);
      fast(x, q).dispose();
      const all = Array.from({ length: 40 }, () => bitsOf(() => fast(x, q)));
      assert.equal(fast.info().replayed, 40);
      fast.dispose();
      return all;
    };
    const alone = [replays({ share: false }), replays({ exact: true })];
    const before = threads();
    const shared = replays({});
    // They are called in eight replays of the sixteen that are measured first.
    if (before > 0 && availableParallelism() > 1) assert.ok(threads() > before, 'nobody helped');
    for (const all of [...alone, shared]) {
      for (const each of all) assert.deepEqual(each, all[0]);
      const [ours, theirs] = [shared[0], all[0]].map(
        (each) => new Float32Array(Uint32Array.from(each).buffer)[0],
      );
      assert.ok(Math.abs(ours - theirs) <= 1e-4 * Math.abs(theirs), `${ours}, ${theirs}`);
    }
    assert.throws(() => ebb.record(() => 0, { share: 1 }), /share/);
    for (const each of [x, w, q]) each.dispose();
  });

  test('refuses options of other kinds, and keys that are tensors', () => {
    const refused = (options, message) =>
      assert.throws(() => ebb.record((x) => x, options), { code: 'EBB_INVALID_ARGUMENT', message });
    refused({ key: 3 }, '[record: key] Received 3; allowed: a function.');
    refused({ key: null }, '[record: key] Received null; allowed: a function.');
    refused({ name: {} }, '[record: name] Received Object; allowed: a text.');
    refused({ name: 3 }, '[record: name] Received 3; allowed: a text.');
    refused([], '[record] Received Array; allowed: an object.');
    const x = tf.tensor1d([1]);
    for (const key of [() => x, () => ({ deep: [x] })]) {
      const fast = ebb.record((y) => y.add(1), { key });
      const message =
        /\[record: key\] Received Tensor; allowed: a function that gives plain values/;
      for (let i = 0; i < 2; i++) {
        assert.throws(() => fast(x), { code: 'EBB_INVALID_ARGUMENT', message });
      }
    }
    const v = tf.tidy(() => tf.variable(x)); // which one it is, not its value
    const fast = ebb.record((y) => y.add(1), { key: () => v });
    for (let i = 0; i < 3; i++) bitsOf(() => fast(x));
    assert.equal(fast.info().replayed, 2);
    tf.dispose([x, v]);
    fast.dispose();
  });
});
