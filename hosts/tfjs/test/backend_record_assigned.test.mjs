// Recorded functions that assign to variables what comes from elsewhere: what they were given it from is as it was, and
// they give in each call what the function gives.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const row = (...numbers) => tf.tensor1d(numbers);
/** A variable that has its data alone. */
const own = (...numbers) => tf.tidy(() => tf.variable(row(...numbers)));

/** What calls of `make().fn` leave and give, recorded or not. */
function story(make, options) {
  const { fn, all, between } = make();
  const called = options === undefined ? fn : ebb.record(fn, options);
  const x = tf.scalar(2);
  const told = [];
  for (let i = 0; i < 5; i++) {
    between?.(i);
    const y = tf.tidy(() => called(x));
    told.push([values(y), ...all.map(values)]);
    y.dispose();
  }
  const replayed = called.info?.().replayed;
  called.dispose?.();
  tf.dispose([x, all]);
  return { told, replayed };
}

const optimizers = { sgd: () => tf.train.sgd(0.1), adam: () => tf.train.adam(0.1) };
const updates = {
  'a variable': (optimizer) => {
    const [slow, fast] = [own(1, 2), own(0, 0)];
    const fn = (x) => {
      fast.assign(slow);
      optimizer.minimize(() => fast.sub(x).square().sum(), false, [fast]);
      return x.mul(2);
    };
    return { fn, all: [slow, fast] };
  },
  'a variable that gets the old value': (optimizer) => {
    const [backup, v] = [own(1, 2), own(5, 6)];
    const fn = (x) => {
      backup.assign(v);
      optimizer.minimize(() => v.sub(x).square().sum(), false, [v]);
      return x.mul(2);
    };
    return { fn, all: [backup, v] };
  },
  'a tensor from outside': (optimizer) => {
    const [start, v] = [row(1, 2), own(0, 0)];
    const fn = (x) => {
      const y = start.mul(x);
      v.assign(start);
      optimizer.minimize(() => v.sub(x).square().sum(), false, [v]);
      return y;
    };
    return { fn, all: [start, v] };
  },
};

describe('a recorded step of an optimizer leaves as it was', () => {
  leavesNothing();

  for (const [name, make] of Object.entries(updates)) {
    for (const [kind, optimizer] of Object.entries(optimizers)) {
      test(`${name} that the updated one was assigned: ${kind}`, () => {
        const run = (options) => {
          const own = optimizer();
          const told = story(() => make(own), options);
          own.dispose();
          return told;
        };
        const expected = run();
        for (const options of [{ exact: true }, { exact: true, overwrite: false }]) {
          const { told, replayed } = run(options);
          assert.deepEqual(told, expected.told);
          assert.ok(replayed >= 2, `${replayed}`);
        }
      });
    }
  }
});

describe('a variable that is assigned a tensor from outside', () => {
  leavesNothing();

  const cases = {
    'has its values, whatever it had before': () => {
      const [zero, h] = [row(0, 0), own(5, 5)];
      const fn = (x) => {
        h.assign(zero);
        return h.add(x);
      };
      return { fn, all: [zero, h] };
    },
    'goes on from them': () => {
      const [zero, h] = [row(0, 0), own(5, 5)];
      const fn = (x) => {
        h.assign(zero);
        const y = h.mul(x);
        h.assign(h.add(x));
        return y;
      };
      return { fn, all: [zero, h] };
    },
    'gives them to another variable': () => {
      const [zero, h, g] = [row(3, 4), own(5, 5), own(6, 6)];
      const fn = (x) => {
        h.assign(zero);
        g.assign(h.mul(x));
        return g.add(h);
      };
      return { fn, all: [zero, h, g] };
    },
  };
  cases['and nothing else happens to it'] = () => {
    const [zero, h] = [row(3, 4), own(5, 5)];
    const fn = (x) => {
      h.assign(zero);
      return x.mul(2);
    };
    return { fn, all: [zero, h] };
  };
  cases['changes places with another'] = () => {
    const [a, h] = [own(3, 4), own(5, 5)];
    const fn = (x) => {
      const old = h.clone();
      h.assign(a);
      a.assign(old);
      return x.mul(2);
    };
    return { fn, all: [a, h] };
  };

  test('is an error with its name once that is disposed', () => {
    const [c, v, x] = [row(1, 2), own(0, 0), tf.scalar(2)];
    const fast = ebb.record((x) => {
      v.assign(c);
      const y = v.mul(x);
      v.assign(y.add(1));
      return y;
    });
    for (let i = 0; i < 3; i++) fast(x).dispose();
    v.assign(c);
    c.dispose();
    tf.dispose([fast(x)]); // v has its data still
    assert.deepEqual(values(v), [3, 5]);
    for (let i = 0; i < 2; i++) {
      assert.throws(() => fast(x), {
        code: 'EBB_STALE_HANDLE',
        message: /float32 \[2\].*is disposed/,
      });
    }
    assert.deepEqual(values(v), [3, 5]);
    fast.dispose();
    tf.dispose([v, x]);
  });

  for (const [name, make] of Object.entries(cases)) {
    test(name, () => {
      const told = (options) =>
        story(() => {
          const made = make();
          const between = (i) => {
            const value = row(10 * i, 7);
            made.all[1].assign(value);
            value.dispose();
          };
          return { ...made, between };
        }, options);
      const recorded = told({ exact: true });
      assert.deepEqual(recorded.told, told().told);
      assert.equal(recorded.replayed, 4);
    });
  }
});

describe('functions that assign what cannot be recorded are run by TensorFlow.js', () => {
  leavesNothing();

  test('a variable that TensorFlow.js does not know', () => {
    class Mine extends tf.Variable {}
    const start = row(1, 2);
    const mine = new Mine(start, true, 'mine', tf.engine().nextTensorId());
    const fast = ebb.record((x) => {
      mine.assign(mine.add(x));
      return mine.mul(1);
    });
    const x = tf.scalar(1);
    for (let i = 1; i < 5; i++) {
      const y = fast(x);
      assert.deepEqual(values(y), [1 + i, 2 + i]);
      assert.deepEqual(values(mine), [1 + i, 2 + i]);
      y.dispose();
    }
    const [reason] = Object.keys(fast.info().reasons);
    assert.equal(reason, 'it uses variables that were not made by tf.variable');
    tf.engine().disposeTensor(mine);
    tf.dispose([x, start]);
  });
});

// TensorFlow.js counts the bytes of strings that a variable is assigned twice when they end.
describe('so are those that assign', () => {
  test('a tensor of strings', () => {
    const [text, w] = [tf.tidy(() => tf.variable(tf.tensor1d(['a', 'b']))), own(1, 1)];
    const next = tf.tensor1d(['c', 'd']);
    const fast = ebb.record((x) => {
      text.assign(next);
      w.assign(w.add(x));
      return x.mul(2);
    });
    const x = tf.scalar(1);
    for (let i = 0; i < 3; i++) fast(x).dispose();
    assert.deepEqual(
      [values(w), values(text)],
      [
        [4, 4],
        ['c', 'd'],
      ],
    );
    assert.deepEqual(fast.info().reasons, {
      'it assigns to a variable what is not on the backend': 3,
    });
    tf.dispose([x, text, next, w]);
  });
});

describe('recorded constants', () => {
  leavesNothing();

  test('are told apart to the bit: NaN, and 0 from -0', () => {
    const fn = (x) => [
      x.add(5),
      x.add(NaN),
      x.add(7),
      x.div(tf.scalar(0)),
      x.div(tf.scalar(-0)),
      x.mul(tf.fill([2], NaN)),
      x.mul(tf.fill([2], 3)),
    ];
    for (const options of [{}, { exact: true }, { fuse: false }, { drop: false }]) {
      const fast = ebb.record(fn, options);
      for (let i = 1; i < 4; i++) {
        tf.tidy(() => assert.deepEqual(fast(row(i, 2)).map(values), fn(row(i, 2)).map(values)));
      }
      assert.equal(fast.info().replayed, 2);
      fast.dispose();
    }
  });
});

describe('with exact', () => {
  leavesNothing();

  const sums = {
    'what is left out makes its operand dense all the same': (x) => {
      const t = x.transpose();
      t.relu();
      return t.sum(1);
    },
    'arguments lie as they were given': (x) => x.sum(0),
  };
  for (const [name, fn] of Object.entries(sums)) {
    test(name, () => {
      const fast = ebb.record(fn, { exact: true });
      for (let i = 0; i < 40; i++) {
        tf.tidy(() => {
          const x = () => tf.randomUniform([7, 3], 0, 1, 'float32', i).transpose();
          assert.deepEqual(values(fast(x())), values(fn(x())), `call ${i}`);
        });
      }
      fast.dispose();
    });
  }
});
