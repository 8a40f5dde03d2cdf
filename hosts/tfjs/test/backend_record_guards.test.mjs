// Replays of functions that look at values, and that fail: the error is the call's where the function would have it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const one = (value, dtype = 'float32') => tf.tensor1d([value], dtype);
const counts = () => [tf.memory().numTensors, tf.memory().numBytes, tf.backend().numDataIds()];
const OTHERS = { 'values that it looks at were others': 1 };
/** The values of a result, which ends. */
const taken = (result) => {
  const all = values(result);
  result.dispose();
  return all;
};

/** Runs with so many bytes left, and no more. */
function within(bytes, run) {
  const budget = ebb.budget();
  ebb.trim();
  ebb.budget(ebb.memory().liveBytes + bytes, { strict: true });
  try {
    return run();
  } finally {
    ebb.budget(budget, { strict: false });
  }
}

/** 4 MB for a flag that is set, little otherwise; `runs` counts the function's own runs. */
function world(more = (x) => x) {
  const v = tf.tidy(() => tf.variable(one(0)));
  const x = tf.ones([1 << 18]);
  const flags = [0, 1].map((value) => one(value));
  const counted = { runs: 0 };
  const fast = ebb.record(
    (y, flag) => {
      counted.runs++;
      v.assign(v.add(1));
      if (flag.dataSync()[0] === 0) return y.sum();
      return tf.concat([more(y), y, y, y]).sum();
    },
    { guards: true },
  );
  const end = () => {
    tf.dispose([v, x, flags]);
    fast.dispose();
  };
  return { v, x, flags, fast, counted, end };
}

describe('a replay that looks at values', () => {
  leavesNothing();

  for (const [name, more] of [
    ['', undefined],
    [', and draws', (y) => tf.dropout(y, 0.5)],
  ]) {
    test(`throws where memory runs out and they are the same, and leaves all as it was${name}`, () => {
      const { v, x, flags, fast, counted, end } = world(more);
      for (let i = 0; i < 3; i++) fast(x, flags[1]).dispose();
      const [was, { recorded, replayed }] = [counts(), fast.info()];
      within(1 << 20, () => {
        for (let i = 0; i < 3; i++) {
          assert.throws(() => fast(x, flags[1]), { code: 'EBB_OUT_OF_MEMORY' });
          assert.deepEqual(counts(), was);
        }
      });
      assert.deepEqual(values(v), [3]);
      assert.equal(counted.runs, 1);
      fast(x, flags[1]).dispose();
      const info = fast.info();
      assert.deepEqual([info.recorded, info.programs, info.replayed], [recorded, 1, replayed + 1]);
      assert.deepEqual(info.reasons, {});
      end();
    });
  }

  test('goes the other way where memory runs out and one is different', () => {
    const { v, x, flags, fast, counted, end } = world();
    for (let i = 0; i < 3; i++) fast(x, flags[1]).dispose();
    within(1 << 20, () => {
      assert.deepEqual(taken(fast(x, flags[0])), [1 << 18]);
      assert.throws(() => fast(x, flags[1]), { code: 'EBB_OUT_OF_MEMORY' });
      assert.deepEqual(taken(fast(x, flags[0])), [1 << 18]);
    });
    assert.deepEqual(values(v), [5]);
    assert.deepEqual([counted.runs, fast.info().programs], [2, 2]);
    assert.deepEqual(fast.info().reasons, OTHERS);
    end();
  });

  test('names a captured tensor that is disposed of', () => {
    const c = tf.tensor1d([1, 2]);
    const fast = ebb.record((x) => (x.dataSync()[0] > 0 ? x.add(c) : x.neg()), {
      guards: true,
      name: 'looks',
    });
    const [x, other] = [one(1), one(-1)];
    for (let i = 0; i < 3; i++) assert.deepEqual(taken(fast(x)), [2, 3]);
    c.dispose();
    const disposed = {
      code: 'EBB_STALE_HANDLE',
      message:
        /"looks" uses a tensor, float32 \[2\] at .*record_guards.test.mjs:\d+, that is disposed/,
    };
    for (let i = 0; i < 2; i++) {
      assert.throws(() => fast(x), disposed);
      assert.deepEqual(taken(fast(other)), [1]); // needs none of it
    }
    assert.equal(fast.info().recorded, 2);
    tf.dispose([x, other]);
    fast.dispose();
  });

  test('may look at what came from another backend when something fails', async () => {
    const c = tf.tensor1d([1, 2]);
    const fast = ebb.record((x, at) => (at.dataSync()[0] > 0 ? x.add(c) : x.neg()), {
      guards: true,
    });
    const x = one(1);
    const [yes, no] = [one(1), one(-1)];
    for (let i = 0; i < 3; i++) fast(x, yes).dispose();
    c.dispose();
    await tf.setBackend('cpu');
    const away = tf.tidy(() => no.add(0));
    await tf.setBackend('ebb');
    assert.deepEqual(taken(fast(x, away)), [-1]);
    assert.deepEqual(fast.info().reasons, OTHERS);
    tf.dispose([x, yes, no, away]);
    fast.dispose();
  });

  test('throws what an operation says of values that nobody looks at, and assigns nothing', () => {
    const v = tf.tidy(() => tf.variable(one(0)));
    const table = tf.tensor1d([5, 6, 7]);
    const flag = one(1);
    let runs = 0;
    const fast = ebb.record(
      (at) => {
        runs++;
        v.assign(v.add(flag.add(v.mul(0)).dataSync()[0]));
        return tf.gather(table, at);
      },
      { guards: true },
    );
    const [at, wrong] = [one(1, 'int32'), one(9, 'int32')];
    for (let i = 0; i < 3; i++) assert.deepEqual(taken(fast(at)), [6]);
    for (let i = 0; i < 2; i++) assert.throws(() => fast(wrong), { code: 'EBB_INVALID_ARGUMENT' });
    assert.deepEqual([runs, values(v)], [1, [3]]);
    assert.deepEqual(taken(fast(at)), [6]);
    assert.deepEqual(fast.info().reasons, {});
    tf.dispose([v, table, flag, at, wrong]);
    fast.dispose();
  });

  test('is left alone where shapes depend on values that nobody looks at', () => {
    const fast = ebb.record(
      (x, flag) => (flag.dataSync()[0] > 0 ? tf.unique(x).values.add(1) : x.neg()),
      { guards: true },
    );
    const flags = [one(0), one(1)];
    for (const [given, expected, flag] of [
      [[1, 2, 2], [2, 3], 1],
      [[3, 4, 4], [4, 5], 1],
      [[5, 6, 7], [-5, -6, -7], 0], // another way: what else is different does not count
      [[3, 4, 4], [4, 5], 1],
      [[5, 6, 7], [6, 7, 8], 1],
      [[5, 6, 7], [6, 7, 8], 1],
    ]) {
      const x = tf.tensor1d(given);
      assert.deepEqual(taken(fast(x, flags[flag])), expected);
      x.dispose();
    }
    const { recorded, programs, reasons } = fast.info();
    assert.deepEqual([recorded, programs], [2, 0]);
    assert.deepEqual(reasons, { ...OTHERS, 'shapes inside depend on values': 2 });
    tf.dispose(flags);
    fast.dispose();
  });
});
