// Each switch of recorded functions, off: the results stay, and what the switch is for is not done.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const SWITCHES = ['fold', 'drop', 'fuse', 'absorb', 'join', 'keep', 'overwrite', 'share', 'graphs'];
const random = (shape, seed) => tf.randomNormal(shape, 0, 1, 'float32', seed);
const variable = (shape, seed) => tf.tidy(() => tf.variable(random(shape, seed)));
const bits = (list) => Array.from(new Uint32Array(Float32Array.from(list).buffer));

/** Functions in which there is something to do for each switch: what they are given, and all that they hold. */
const WORLDS = {
  fold: () => {
    const fn = (x) => x.add(tf.range(0, 64).mul(2).add(1).reshape([64, 1]));
    return { fn, args: [random([64, 32], 1)], held: [] };
  },
  drop: () => {
    const fn = (x) => {
      x.matMul(x).exp(); // nobody needs it
      return x.slice([0, 0], [48, 48]).add(1).sum(1);
    };
    return { fn, args: [random([48, 48], 1)], held: [] };
  },
  fuse: () => {
    const fn = (x) => x.mul(2).add(1).tanh().square().sub(x);
    return { fn, args: [random([256, 64], 1)], held: [] };
  },
  absorb: () => {
    const fn = (x, w) => x.transpose().matMul(w);
    return { fn, args: [random([64, 256], 1), random([64, 32], 2)], held: [] };
  },
  join: () => {
    const [w, b] = [random([64, 48], 2), random([48], 3)];
    return { fn: (x) => x.matMul(w).add(b).relu(), args: [random([256, 64], 1)], held: [w, b] };
  },
  keep: () => {
    const [w, mean, variance] = [variable([3, 3, 8, 16], 2), variable([16], 3), tf.ones([16])];
    const fn = (x) => tf.batchNorm(tf.conv2d(x, w, 1, 'same'), mean, variance).relu6();
    return { fn, args: [random([2, 16, 16, 8], 1)], held: [w, mean, variance] };
  },
  overwrite: () => {
    const w = variable([512, 64], 2);
    const optimizer = tf.train.adam(0.1);
    const loss = (x) => w.mul(x).square().mean();
    optimizer.minimize(() => loss(w), false, [w]); // makes its variables
    const fn = (x) => optimizer.minimize(() => loss(x), true, [w]);
    return { fn, args: [random([64], 1)], held: [w, optimizer], changes: [w] };
  },
  share: () => {
    const w = random([256, 384], 2);
    const fn = (x) => x.matMul(w).tanh().sum(1);
    return { fn, args: [random([192, 256], 1)], held: [w] };
  },
};

// Of replays of 40 us and more (src/backends/cpu/shift.hpp) eight are measured without threads that help and eight with
// them; from the eighteenth call on it is whichever took less.
const ROUNDS = 20;
const ended = (held) => held.forEach((each) => each.dispose());

/** What each call gives, with what it assigns to. */
function results(make, options) {
  const { fn, args, held, changes = [] } = make();
  const run =
    options === undefined ? (...given) => tf.tidy(() => fn(...given)) : ebb.record(fn, options);
  const all = [];
  for (let i = 0; i < ROUNDS; i++) {
    const y = run(...args);
    all.push([...values(y), ...changes.flatMap(values)]);
    y.dispose();
  }
  if (options !== undefined) {
    assert.equal(run.info().replayed, ROUNDS - 1);
    run.dispose();
  }
  ended([...args, ...held]);
  return all;
}

/** Tensors and bytes that the core makes in one replay, and the bytes that end with the function. */
function work(make, options) {
  const { fn, args, held } = make();
  const run = ebb.record(fn, options);
  for (let i = 0; i < ROUNDS; i++) run(...args).dispose();
  const books = () => ebb.report({ json: true }).books;
  const before = books();
  run(...args).dispose();
  const after = books();
  run.dispose();
  const kept = after.bytes.live - books().bytes.live;
  ended([...args, ...held]);
  return {
    tensors: after.tensors.created - before.tensors.created,
    bytes: after.bytes.created - before.bytes.created,
    kept,
  };
}

describe('a recorded function', () => {
  leavesNothing();

  for (const [name, make] of Object.entries(WORLDS)) {
    const eager = () => results(make, undefined);

    test(`of the world of ${name} gives what it gives otherwise, whichever switch is off`, () => {
      const wanted = eager();
      for (const off of [[], ...SWITCHES.map((each) => [each]), SWITCHES]) {
        const more = Object.fromEntries(off.map((each) => [each, false]));
        results(make, more).forEach((all, i) =>
          all.forEach((each, k) =>
            assert.ok(
              Math.abs(each - wanted[i][k]) <= 1e-4 * (1 + Math.abs(wanted[i][k])),
              `${off}`,
            ),
          ),
        );
      }
    });

    test(`of the world of ${name} is to the bit where that is promised`, () => {
      const wanted = eager().map(bits);
      const last = { join: false, keep: false, share: false }; // what may change the last bits
      const promised = [
        { exact: true },
        last,
        ...SWITCHES.map((each) => ({ exact: true, [each]: false })),
      ];
      for (const more of promised) {
        assert.deepEqual(results(make, more).map(bits), wanted, JSON.stringify(more));
      }
    });
  }

  test('computes again in each call what is of constants alone, without `fold`', () => {
    const operations = (more) => {
      const { fn, args } = WORLDS.fold();
      const fast = ebb.record(fn, more);
      tf.dispose([fast(...args), args]);
      const count = fast.info().operations;
      fast.dispose();
      return count;
    };
    assert.equal(operations({}), 1);
    assert.ok(operations({ fold: false }) >= 4);
    assert.equal(work(WORLDS.fold, {}).tensors, 1);
    assert.ok(work(WORLDS.fold, { fold: false, fuse: false }).tensors >= 4);
  });

  test('runs what no result needs, and views of all of a tensor, without `drop`', () => {
    const [dropped, whole] = [{}, { drop: false }].map((more) => work(WORLDS.drop, more));
    assert.equal(dropped.tensors, 2);
    assert.equal(whole.tensors, 5);
  });

  test('makes what lies between elementwise operations, without `fuse`', () => {
    const [fused, apart] = [{}, { fuse: false }].map((more) => work(WORLDS.fuse, more));
    assert.deepEqual([fused.tensors, apart.tensors], [1, 5]);
    assert.equal(apart.bytes, 5 * fused.bytes);
  });

  test('makes the transposed matrix, without `absorb`', () => {
    const [taken, made] = [{}, { absorb: false }].map((more) => work(WORLDS.absorb, more));
    assert.equal(made.tensors - taken.tensors, 1);
  });

  test('makes the product before its bias, without `join` or where it is exact', () => {
    const joined = work(WORLDS.join, { keep: false });
    for (const more of [{ join: false }, { exact: true }]) {
      assert.ok(work(WORLDS.join, { ...more, keep: false }).tensors > joined.tensors);
    }
  });

  test('keeps nothing of weights without `keep`, and about their size with it', () => {
    const [kept, made] = [{}, { keep: false }].map((more) => work(WORLDS.keep, more));
    const weights = 4 * (3 * 3 * 8 * 16);
    assert.equal(made.kept, 0);
    assert.ok(kept.kept >= weights && kept.kept < 2 * weights, `${kept.kept}`);
    assert.ok(kept.tensors < made.tensors);
  });

  test('makes new data for variables, without `overwrite`', () => {
    const [over, fresh] = [{}, { overwrite: false }].map((more) => work(WORLDS.overwrite, more));
    const ofVariables = 3 * 4 * 512 * 64; // w, and Adam's two moments
    assert.equal(fresh.bytes - over.bytes, ofVariables);
  });

  test('has nothing on the CPU that `graphs` or `share` would make', () => {
    for (const name of ['graphs', 'share']) {
      const [on, off] = [{}, { [name]: false }].map((more) => work(WORLDS.share, more));
      assert.deepEqual(on, off);
    }
  });
});
