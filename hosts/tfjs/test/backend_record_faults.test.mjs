// Replays in which no tensor can be made of a result: everything is as it was before the call.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const pair = () => tf.tensor1d([1, 2]);
const variable = (...shape) => tf.tidy(() => tf.variable(tf.zeros(shape)));
const counts = () => [tf.memory().numTensors, tf.memory().numBytes, tf.backend().numDataIds()];

/** Runs with an engine that makes tensors `before` times and then no more; how often it was asked, or the error. */
function failing(before, run) {
  const engine = tf.engine();
  let asked = 0;
  engine.makeTensorFromTensorInfo = function (...given) {
    if (asked++ === before) throw new Error('made to fail');
    return Object.getPrototypeOf(engine).makeTensorFromTensorInfo.apply(this, given);
  };
  try {
    run();
    return { asked };
  } catch (error) {
    assert.equal(error.message, 'made to fail');
    return { error };
  } finally {
    delete engine.makeTensorFromTensorInfo;
  }
}

/** A function that is recorded, how it is called, and what it may change. */
const worlds = {
  'of several results': (options) => {
    const x = pair();
    const fast = ebb.record((y) => [y.add(1), y.mul(2), y.sub(3)], options);
    return { fast, run: () => fast(x), held: [x], variables: [] };
  },
  'that assigns to variables': (options) => {
    const [v, w, x] = [variable(2), variable(2), pair()];
    const fast = ebb.record((y) => {
      v.assign(v.add(y));
      w.assign(w.sub(y));
      return [y.add(1), y.mul(2)];
    }, options);
    return { fast, run: () => fast(x), held: [x, v, w], variables: [v, w] };
  },
  'that assigns to variables others see too': (options) => {
    const [v, w, x] = [variable(2), variable(2), pair()];
    const seen = [];
    const fast = ebb.record((y) => {
      v.assign(v.add(y));
      w.assign(w.sub(y));
      return y.add(1);
    }, options);
    const before = () => seen.push(v.clone(), w.clone());
    return { fast, before, run: () => fast(x), held: [x, v, w, seen], variables: [v, w] };
  },
  'that looks at values': (options) => {
    const [v, x] = [variable(2), pair()];
    const fast = ebb.record(
      (y) => {
        v.assign(v.add(y));
        return [y.mul(y.dataSync()[1]), y.add(1)];
      },
      { ...options, guards: true },
    );
    const recordedOnce = () => assert.equal(fast.info().recorded, 1);
    return { fast, before: recordedOnce, run: () => fast(x), held: [x, v], variables: [v] };
  },
  'that draws': (options) => {
    const x = tf.ones([64]);
    const fast = ebb.record((y) => [tf.dropout(y, 0.5), tf.dropout(y, 0.2)], options);
    return { fast, run: () => fast(x), held: [x], variables: [] };
  },
  'that takes a step': (options) => {
    const [w, x] = [variable(64), tf.ones([64])];
    const optimizer = tf.train.adam(0.1);
    const loss = () => x.sub(w).square().sum();
    optimizer.minimize(loss, false, [w]); // makes its variables
    const fast = ebb.record(() => optimizer.minimize(loss, true, [w]), {
      ...options,
      overwrite: false,
    });
    return { fast, run: () => fast(), held: [x, w, optimizer], variables: [w], optimizer };
  },
};

describe('a replay that can make no tensor of a result', () => {
  leavesNothing();

  for (const [name, make] of Object.entries(worlds)) {
    for (const reuse of [false, true]) {
      test(`leaves all as it was: a function ${name}${reuse ? ', its results reused' : ''}`, () => {
        const { fast, run, before = () => {}, held, variables, optimizer } = make({ reuse });
        const done = (result) => !reuse && tf.dispose(result);
        const kept = [];
        for (let i = 0; i < 5; i++) done(run());
        const state = (results) => [
          ...[...variables, ...results].map(values),
          optimizer?.iterations,
          counts(),
        ];
        for (let n = 0; n < 20; n++) {
          before();
          const results = reuse ? [run()].flat() : [];
          before();
          kept.push(...results.map((each) => each.clone())); // results that others see get new data
          const was = state(results);
          let made;
          const { error, asked } = failing(n, () => (made = run()));
          ebb.audit();
          if (error === undefined) {
            done(made);
            assert.equal(asked, n);
            break;
          }
          assert.deepEqual(state(results), was);
          done(run());
        }
        fast.dispose();
        for (const each of [kept, held].flat(2)) each.dispose();
      });
    }
  }

  for (const reclaims of [false, true]) {
    test(`has taken the whole step where that was written over its variables, reclaim ${reclaims ? 'on' : 'off'}`, () => {
      if (reclaims) ebb.reclaim.on();
      const world = () => {
        const [w, b, x] = [variable(64), variable(64), tf.ones([64])];
        const optimizer = tf.train.adam(0.1);
        const calls = variable(1);
        const fast = ebb.record(() => {
          calls.assign(calls.add(1));
          return optimizer.minimize(() => x.sub(w).mul(b.add(1)).square().sum(), true, [w, b]);
        });
        return { w, b, x, calls, optimizer, fast };
      };
      const [broken, whole] = [world(), world()];
      for (let i = 0; i < 10; i++) {
        const step = () => broken.fast().dispose();
        if (i === 5) assert.ok(failing(0, step).error);
        else step();
        whole.fast().dispose();
        for (const name of ['w', 'b', 'calls']) {
          assert.deepEqual(values(broken[name]), values(whole[name]));
        }
        assert.equal(broken.optimizer.iterations, whole.optimizer.iterations);
      }
      for (const { fast, ...held } of [broken, whole]) {
        fast.dispose();
        for (const each of Object.values(held)) each.dispose();
      }
      ebb.reclaim.off();
    });
  }
});
