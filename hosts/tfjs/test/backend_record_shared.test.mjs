// Recorded functions whose variables share data when they are recorded: later they are different tensors.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collected, ebb, leavesNothing, tf, values } from './backend_support.mjs';

const pair = (value) => tf.tensor1d([value, value]);
const variable = (value) => tf.tidy(() => tf.variable(pair(value)));
const assign = (to, value) => tf.tidy(() => to.assign(pair(value)));

/** What `rounds` calls give, the first number of each result. */
function calls(run, rounds, between) {
  const all = [];
  for (let i = 0; i < rounds; i++) {
    const results = [run(i)].flat();
    all.push(results.map((each) => values(each)[0]));
    tf.dispose(results);
    between(i);
  }
  return all;
}

/** The same calls of a function and of it recorded, each with variables of its own; what they hold is disposed of. */
function compares(make, { rounds = 8, replayed = rounds - 1, options = {} } = {}) {
  const outcomes = [false, true].map((isRecorded) => {
    const { fn, between = () => {}, args = () => [], held } = make();
    const tidy = (...given) => tf.tidy(() => fn(...given));
    const run = isRecorded ? ebb.record(fn, options) : tidy;
    const all = calls((i) => run(...args(i)), rounds, between);
    const after = held.map((each) => values(each)[0]);
    if (isRecorded) {
      assert.equal(run.info().replayed, replayed, JSON.stringify(run.info()));
      run.dispose();
    }
    tf.dispose(held);
    return { all, after };
  });
  assert.deepEqual(outcomes[1], outcomes[0]);
}

describe('a recorded function tells apart what shared data', () => {
  leavesNothing();

  for (const which of ['first', 'second']) {
    test(`two variables of one initial value, the ${which} of them assigned to`, () =>
      compares(() => {
        const a = pair(1);
        const [v, w] = [tf.variable(a), tf.variable(a)];
        const changed = which === 'first' ? v : w;
        return {
          fn: () => v.mul(2).add(w),
          between: (i) => assign(changed, i + 2),
          held: [a, v, w],
        };
      }));
  }

  test('a variable and its initial value, whichever is used first', () => {
    for (const fn of [(a, v) => a.mul(2).add(v), (a, v) => v.mul(2).add(a)]) {
      compares(() => {
        const a = pair(1);
        const v = tf.variable(a);
        return { fn: () => fn(a, v), between: (i) => assign(v, i + 2), held: [a, v] };
      });
    }
  });

  test('a variable that was given the value of another', () =>
    compares(() => {
      const [v, t] = [variable(1), variable(0)];
      t.assign(v);
      return { fn: () => v.mul(2).add(t), between: (i) => assign(v, i + 2), held: [v, t] };
    }));

  test('one that is updated, and one that is given its value now and then', () => {
    for (const options of [{}, { overwrite: false }]) {
      compares(
        () => {
          const [v, t] = [variable(1), variable(0)];
          t.assign(v);
          return {
            fn: () => {
              v.assign(v.add(1));
              return v.mul(100).add(t);
            },
            between: (i) => i % 3 === 2 && t.assign(v),
            held: [v, t],
          };
        },
        { options },
      );
    }
  });

  test('variables that are arguments', () =>
    compares(() => {
      const x = pair(1);
      const [v, w] = [tf.variable(x), tf.variable(x)];
      return {
        fn: (a, b) => {
          a.assign(a.add(1));
          return [a.mul(1), b.mul(1)];
        },
        args: () => [v, w],
        between: (i) => i % 3 === 2 && w.assign(v),
        held: [x, v, w],
      };
    }));

  test('a view of another shape, and variables that are frozen', () =>
    compares(() => {
      const a = tf.tensor2d([[1, 2]]);
      const flat = a.reshape([2]);
      const [v, w] = [tf.variable(a, false), tf.variable(flat)];
      return {
        fn: () => v.mul(2).add(w),
        between: (i) => assign(w, i + 2),
        held: [a, flat, v, w],
      };
    }));

  test('variables on another backend', async () => {
    await tf.setBackend('cpu');
    const a = pair(1);
    const [v, w] = [tf.variable(a), tf.variable(a)];
    await tf.setBackend('ebb');
    const fast = ebb.record(() => v.mul(2).add(w));
    const all = calls(
      () => fast(),
      6,
      (i) => assign(w, i + 2),
    );
    assert.deepEqual(all.flat(), [3, 4, 5, 6, 7, 8]);
    assert.equal(fast.info().replayed, 4);
    fast.dispose();
    tf.dispose([a, v, w]);
  });

  test('the weights of a network and of its target', () => {
    const net = () => {
      const dense = (units, seed, more) =>
        tf.layers.dense({
          units,
          kernelInitializer: tf.initializers.glorotUniform({ seed }),
          ...more,
        });
      return tf.sequential({ layers: [dense(8, 1, { inputShape: [4] }), dense(2, 2)] });
    };
    const [s, next] = [1, 2].map((seed) => tf.randomUniform([16, 4], 0, 1, 'float32', seed));
    const losses = (isRecorded) => {
      const [online, target] = [net(), net()];
      target.setWeights(online.getWeights());
      const optimizer = tf.train.sgd(0.05);
      const loss = () => {
        const wanted = target.apply(next).max(1, true).mul(0.9).add(1);
        return online.apply(s).sub(wanted).square().mean();
      };
      const list = online.trainableWeights.map((each) => each.read());
      const step = () => optimizer.minimize(loss, true, list);
      const run = isRecorded ? ebb.record(step) : () => tf.tidy(step);
      const all = calls(
        () => run(),
        9,
        (i) => i === 5 && target.setWeights(online.getWeights()),
      );
      if (isRecorded) {
        assert.equal(run.info().replayed, 8);
        run.dispose();
      }
      online.dispose();
      target.dispose();
      optimizer.dispose();
      return all.flat();
    };
    const [plain, fast] = [losses(false), losses(true)];
    plain.forEach((each, i) =>
      assert.ok(Math.abs(each - fast[i]) < 1e-5, `${i}: ${each} ${fast[i]}`),
    );
    tf.dispose([s, next]);
  });

  test('layers of a recorded model that were given the same weights', () => {
    const dense = (more) => tf.layers.dense({ units: 3, useBias: false, ...more });
    const model = tf.sequential({ layers: [dense({ inputShape: [3] }), dense({})] });
    const k = tf.randomUniform([3, 3], -1, 1, 'float32', 1);
    model.setWeights([k, k]);
    ebb.record(model);
    const x = tf.ones([2, 3]);
    for (let i = 0; i < 3; i++) model.predict(x).dispose();
    const eye = tf.eye(3);
    model.layers[1].setWeights([eye]);
    const [ours, theirs] = [model.predict(x), x.matMul(k)];
    values(theirs).forEach((each, i) => assert.ok(Math.abs(values(ours)[i] - each) < 1e-6));
    tf.dispose([k, x, eye, ours, theirs]);
    model.dispose();
  });

  test('with reclaim on, and nobody holding the initial value', async () => {
    ebb.reclaim.on();
    try {
      compares(() => {
        const [v, w] = tf.tidy(() => {
          const a = pair(1);
          return [tf.variable(a), tf.variable(a)];
        });
        return { fn: () => v.mul(2).add(w), between: (i) => assign(w, i + 2), held: [v, w] };
      });
      await collected();
    } finally {
      ebb.reclaim.off();
    }
  });
});

describe('a recorded function that assigns one variable to another', () => {
  leavesNothing();

  const functions = {
    'p = q': (p, q) => {
      p.assign(q);
      return p.mul(1);
    },
    'p = q, and both are used': (p, q) => {
      p.assign(q);
      return p.mul(3).sub(q);
    },
    'a swap': (p, q) => {
      const before = p.mul(1);
      p.assign(q);
      q.assign(before);
      return p.mul(1);
    },
    'p = q, then q = q + 1': (p, q) => {
      p.assign(q);
      q.assign(q.add(1));
      return p.mul(1);
    },
    'p = q, then q = p + 1': (p, q) => {
      p.assign(q);
      q.assign(p.add(1));
      return q.mul(1);
    },
    'p = a copy of q': (p, q) => {
      p.assign(q.clone());
      return p.mul(1);
    },
    'p is used, then p = q': (p, q) => {
      const before = p.mul(1);
      p.assign(q);
      return p.mul(1).add(before);
    },
  };
  for (const [name, fn] of Object.entries(functions)) {
    test(name, () => {
      for (const given of [true, false]) {
        compares(() => {
          const [p, q] = [variable(1), variable(2)];
          return {
            fn: given ? fn : () => fn(p, q),
            args: () => (given ? [p, q] : []),
            between: (i) => assign(q, 10 * i + 12),
            held: [p, q],
          };
        });
      }
    });
  }
});
