// Gradients from the core's tape are those that TensorFlow.js takes itself, and nothing else is different.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { collected, ebb, leavesNothing, require, tf, values } from './backend_support.mjs';
import { assertSame, attempt, bothWays, near, numbers } from './backend_tape_support.mjs';
import { CASES } from './tape_cases.mjs';

const THEIRS = new Set([
  'ResizeBilinear, half pixels', // not built in the core
  // through other dtypes
  ...['ArgMax', 'ArgMin', 'Cast', 'FloorDiv', 'GreaterEqual'],
  ...['IsFinite', 'IsInf', 'IsNan', 'OneHot'],
]);
/** Those of which TensorFlow.js throws, and leaves behind what it has kept for the gradient. */
const THROWS = ['ComplexAbs', 'Conv2D, dilated'];
function endingWhatIsKept(run) {
  const engine = tf.engine();
  const kept = [];
  engine.keep = function (tensor) {
    kept.push(tensor);
    return Object.getPrototypeOf(engine).keep.call(this, tensor);
  };
  try {
    return run();
  } finally {
    delete engine.keep;
    tf.dispose(kept);
  }
}

describe('each gradient', () => {
  leavesNothing();
  for (const [name, [f, make]] of Object.entries(CASES)) {
    if (THROWS.includes(name)) continue;
    test(`of ${name} is TensorFlow.js's`, () => {
      const xs = make();
      const result = bothWays(numbers(() => tf.grads(f)(xs)));
      assertSame(result);
      assert.equal(result.ours.error, undefined);
      assert.equal(result.native, THEIRS.has(name) ? 0 : 1);
      const dys =
        xs.length === 1
          ? [
              tf.tidy(() =>
                f(...xs)
                  .mul(0.3)
                  .add(0.1),
              ),
            ]
          : [];
      for (const dy of dys) assertSame(bothWays(numbers(() => tf.grads(f)(xs, dy))));
      tf.dispose([xs, dys]);
    });
  }

  for (const name of THROWS) {
    test(`of ${name} throws as TensorFlow.js does, and leaves nothing`, () => {
      const [f, make] = CASES[name];
      const xs = make();
      const count = () => [tf.memory().numTensors, tf.backend().numDataIds()];
      const before = count();
      attempt(numbers(() => tf.grads(f)(xs)));
      assert.deepEqual(count(), before);
      const { ours, theirs } = endingWhatIsKept(() => bothWays(numbers(() => tf.grads(f)(xs))));
      assert.match(theirs.error, /gradient/i);
      assert.equal(ours.error, theirs.error);
      tf.dispose(xs);
    });
  }

  test('has a case', () => {
    const { getGradient, getKernelsForBackend } = require('@tensorflow/tfjs-core');
    const names = getKernelsForBackend('ebb').map(({ kernelName }) => kernelName);
    const without = names.filter((name) => getGradient(name) != null && !(name in CASES));
    assert.deepEqual(without, []);
  });
});

describe('gradients', () => {
  leavesNothing();
  const x = () => tf.tensor1d([1, 2, -3]);
  /** Compares, with tensors that run() is given; native as many times as said. */
  const check = (native, make, run) => {
    const given = [make()].flat();
    const result = bothWays(numbers(() => run(...given)));
    assertSame(result);
    assert.equal(result.native, native);
    tf.dispose(given);
    return result;
  };

  test('where x is used twice', () => {
    check(1, x, (x) => tf.grad((x) => x.mul(x).add(x.sin()).add(x))(x));
  });

  test('of higher orders: the outermost is native', () => {
    // Of what is saved of results (exp) TensorFlow.js itself loses a part of second derivatives.
    const f = (x) => x.pow(tf.scalar(4)).mul(x.sin());
    check(1, x, (x) => tf.grad(tf.grad(f))(x));
    check(1, x, (x) => tf.grad(tf.grad(tf.grad(f)))(x));
    check(1, x, (x) => tf.grad((x) => tf.grad(f)(x).mul(f(x)))(x));
    const second = (x) => tf.grad(tf.grad((x) => x.square().mul(x.exp())))(x);
    const [slope] = numbers(() => tf.tidy(() => second(tf.scalar(1))))()[0];
    assert.ok(near(slope, 7 * Math.E), `${slope}`);
  });

  test('through a customGrad are TensorFlow.js’s, f runs once', () => {
    let runs = 0;
    const half = tf.customGrad((x, save) => {
      save([x]);
      return { value: x.square(), gradFunc: (dy, [saved]) => [dy.mul(saved).mul(0.5)] };
    });
    check(0, x, (x) => {
      return tf.grad((x) => {
        runs++;
        return half(x.mul(2)).add(x.relu());
      })(x);
    });
    assert.equal(runs, 2);
    // Where it does not lead from x to y, it does not matter.
    check(1, x, (x) => tf.grad((x) => x.mul(half(tf.scalar(2))))(x));
    check(1, x, (x) =>
      tf.grad((x) => {
        half(x);
        return x.square();
      })(x),
    );
  });

  test('of a kernel whose gradient a program has replaced', () => {
    const { getGradient, registerGradient } = require('@tensorflow/tfjs-core');
    const usual = getGradient('Tanh');
    registerGradient({ ...usual, gradFunc: (dy) => ({ x: () => dy.mul(7) }) });
    try {
      assert.deepEqual(check(0, x, (x) => tf.grad(tf.tanh)(x)).ours.value, [[7, 7, 7]]);
    } finally {
      registerGradient(usual);
    }
    check(1, x, (x) => tf.grad(tf.tanh)(x));
  });

  test('through a kernel of another backend', async () => {
    require('@tensorflow/tfjs-backend-cpu');
    const other = (run) => {
      tf.engine().backendName = 'cpu';
      tf.engine().backendInstance = tf.engine().findBackend('cpu');
      try {
        return run();
      } finally {
        tf.engine().backendName = 'ebb';
        tf.engine().backendInstance = tf.engine().findBackend('ebb');
      }
    };
    check(0, x, (x) => tf.grad((x) => x.mul(other(() => x.square())).add(x))(x));
    // The data of x's square comes back from there.
    check(0, x, (x) =>
      tf.grad((x) => {
        const a = x.square();
        other(() => a.add(1).dispose());
        return a.mul(3);
      })(x),
    );
  });

  test('where tensors share data', () => {
    const two = () => {
      const first = x();
      return [first, first.clone()];
    };
    check(0, two, (x, same) => tf.grad((x) => x.mul(same))(x));
    check(1, two, (x) => tf.grad((x) => x.mul(x.clone()))(x));
    check(0, two, (x, same) => tf.grads((a, b) => a.mul(b.square()))([x, same]));
    check(1, x, (x) => tf.grad((x) => x.reshape([3, 1]).mul(x.reshape([1, 3])))(x));
  });

  test('by a tensor whose data has another shape', () => {
    const turned = () => tf.tidy(() => tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]).reshape([3, 2]));
    check(1, turned, (x) => tf.grad((x) => x.square().sum(1).reshape([3, 1]))(x));
  });

  test('of what was disposed on the way', () => {
    check(1, x, (x) =>
      tf.grad((x) => {
        const a = x.exp();
        const b = a.sin().mul(a);
        a.dispose();
        return b;
      })(x),
    );
  });

  test('with a dy, and with one of fewer axes', () => {
    check(1, x, (x) => tf.grad((x) => x.square())(x, tf.tensor1d([1, 10, 100])));
    check(0, x, (x) => tf.valueAndGrad((x) => x.square())(x, tf.scalar(2)).grad);
  });

  test('of segments, where a row is in none', () => {
    const ids = tf.tensor1d([0, -1, 1], 'int32');
    const dy = tf.tensor1d([NaN, 2]);
    check(1, x, (x) => tf.grad((x) => tf.unsortedSegmentSum(x, ids, 2))(x, dy));
    tf.dispose([ids, dy]);
  });

  test('through steps are zeros', () => {
    assert.deepEqual(check(1, x, (x) => tf.grad(tf.floor)(x)).ours.value, [[0, 0, 0]]);
  });
});

describe('gradients by variables', () => {
  leavesNothing();
  const variable = (values, trainable = true) =>
    tf.tidy(() => tf.variable(tf.tensor1d(values), trainable));

  test('only by those that can be trained and lead to the loss', () => {
    const a = variable([1, 2]);
    const b = variable([3, 4], false);
    const c = variable([5, 6]);
    const run = () => {
      const { value, grads } = tf.variableGrads(() => a.mul(b).sum(), [a, b, c]);
      const found = Object.keys(grads).map((name) => [...values(grads[name] ?? value)]);
      assert.deepEqual(Object.keys(grads), [a.name, b.name]);
      assert.equal(grads[b.name], null);
      tf.dispose([value, grads]);
      return found;
    };
    const result = bothWays(run);
    assertSame(result);
    assert.equal(result.native, 1);
    tf.dispose([a, b, c]);
  });

  test('that are assigned to inside', () => {
    for (const [native, after] of [
      [1, (v, w) => v.mul(w)],
      [0, (v, w, ema) => v.mul(w).add(ema)],
    ]) {
      const run = () => {
        const [v, w] = [variable([1, 2]), variable([3, 4])];
        const ema = variable([0, 0], false);
        const { value, grads } = tf.variableGrads(() => {
          ema.assign(tf.add(ema.mul(0.9), v.mul(0.1)));
          return after(v, w, ema).sum();
        });
        const all = [...Object.values(grads), value, ema].map(values);
        tf.dispose([value, grads, v, w, ema]);
        return all;
      };
      const result = bothWays(run);
      assertSame(result);
      assert.equal(result.native, native);
    }
    const self = bothWays(() => {
      const v = variable([1, 2]);
      const { value, grads } = tf.variableGrads(() => {
        const first = v.square();
        v.assign(tf.tensor1d([5, 6]));
        return first.add(v).sum();
      });
      const all = [...Object.values(grads), value].map(values);
      tf.dispose([value, grads, v]);
      return all;
    });
    assertSame(self);
    assert.equal(self.native, 0);
  });
});

describe('what is wrong', () => {
  test('is said in TensorFlow.js’s words, and leaves nothing', () => {
    const cases = [
      (x) => tf.grad((x) => x)(x),
      (x) => tf.grad(() => tf.scalar(1))(x),
      (x) => tf.grads((a) => a.mul(2))([x, tf.scalar(1)]),
      (x) => tf.grad((x) => tf.topk(x, 2).values)(x),
      (x) => tf.grad((x) => x.mul(2))(x, tf.ones([2])),
      (x) => tf.grad((x) => x.mul(2))(x, tf.ones([3], 'int32')),
      (x) => tf.grad(() => 3)(x),
      (x) =>
        tf.grad(() => {
          throw new Error('mine');
        })(x),
    ];
    for (const run of cases) {
      const given = tf.tensor1d([1, 2, -3]);
      const before = tf.memory().numTensors;
      const ours = attempt(numbers(() => run(given)));
      assert.equal(tf.memory().numTensors, before, run.toString());
      ebb.tape.off();
      const theirs = attempt(numbers(() => run(given)));
      ebb.tape.on();
      assert.ok(ours.error !== undefined, run.toString());
      assert.equal(ours.error, theirs.error);
      given.dispose();
    }
  });
});

describe('training', () => {
  test('is the same', async () => {
    const { initializers, layers } = tf;
    const train = async () => {
      const initial = { kernelInitializer: initializers.glorotUniform({ seed: 5 }) };
      const model = tf.sequential();
      const conv = { filters: 4, kernelSize: 3, activation: 'relu', ...initial };
      model.add(layers.conv2d({ inputShape: [8, 8, 1], ...conv }));
      model.add(layers.batchNormalization());
      model.add(layers.maxPooling2d({ poolSize: 2 }));
      model.add(layers.flatten());
      model.add(layers.dense({ units: 8, activation: 'tanh', ...initial }));
      model.add(layers.dense({ units: 3, activation: 'softmax', ...initial }));
      model.compile({ optimizer: 'adam', loss: 'categoricalCrossentropy', metrics: ['accuracy'] });
      const x = tf.randomNormal([12, 8, 8, 1], 0, 1, 'float32', 3);
      const y = tf.oneHot(tf.tensor1d([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], 'int32'), 3);
      const history = await model.fit(x, y, {
        epochs: 4,
        batchSize: 4,
        shuffle: false,
        verbose: 0,
      });
      model.dispose();
      model.optimizer.dispose();
      tf.dispose([x, y]);
      return history.history.loss;
    };
    const before = ebb.tape.info().native;
    const ours = await train();
    assert.equal(ebb.tape.info().native - before, 12);
    ebb.tape.off();
    const theirs = await train().finally(() => ebb.tape.on());
    assert.ok(
      ours.every((loss, i) => near(loss, theirs[i])),
      `${ours} but ${theirs}`,
    );
  });
});

describe('a tape', () => {
  leavesNothing();

  test('keeps the books right when memory runs out on the way back', () => {
    const x = tf.ones([256, 1024]);
    const used = () => ebb.memory().liveBytes;
    const before = used();
    const f = (x) => {
      const y = tf.tidy(() => x.exp().mul(x).sin());
      ebb.budget(used() + (1 << 20), { strict: true });
      return y;
    };
    try {
      assert.throws(() => tf.grad(f)(x), { code: 'EBB_OUT_OF_MEMORY' });
    } finally {
      ebb.budget('4GB');
    }
    assert.equal(used(), before);
    const again = tf.grad((x) => x.square())(x);
    assert.equal(values(again)[5], 2);
    tf.dispose([x, again]);
  });

  for (const network of ['convolutions', 'products', 'recurrent', 'normalised', 'attention']) {
    test(`needs no more memory than TensorFlow.js: ${network}`, () => {
      const file = fileURLToPath(new URL('tape_peak.cjs', import.meta.url));
      const run = (onOrOff) =>
        spawnSync(process.execPath, [file, network], {
          env: { ...process.env, EBB_TAPE: onOrOff },
          encoding: 'utf8',
        });
      const [ours, theirs] = ['1', '0'].map(run);
      assert.equal(ours.stderr + theirs.stderr, '');
      const peaks = [Number(ours.stdout), Number(theirs.stdout)];
      assert.ok(peaks[0] > 0 && peaks[0] <= peaks[1], `${peaks[0]} bytes, ${peaks[1]}`);
    });
  }

  test('is off where it is told so', () => {
    const x = tf.scalar(3);
    ebb.tape.off();
    const before = ebb.tape.info();
    assert.equal(before.on, false);
    tf.grad((x) => x.square())(x).dispose();
    assert.deepEqual(ebb.tape.info(), before);
    ebb.tape.on();
    tf.grad((x) => x.square())(x).dispose();
    assert.equal(ebb.tape.info().native, before.native + 1);
    assert.match(ebb.report(), /gradients: \d+ native, \d+ by TensorFlow\.js/);
    x.dispose();
  });

  test('with reclaim on, where nothing is disposed', async () => {
    await collected(() => {
      const x = tf.tensor1d([1, 2, 3]);
      for (let i = 0; i < 200; i++) {
        const slope = tf.grad((x) => x.mul(x.sin()).exp())(x);
        if (i % 50 === 0) {
          ebb.collect('minor');
          assert.ok(near(values(slope)[0], Math.exp(Math.sin(1)) * (Math.sin(1) + Math.cos(1))));
        }
      }
    });
  });
});
