// Steps of all optimizers of tf.train as one operation each: what TensorFlow.js's chains give. Adam has a file of its own.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';

const require = createRequire(import.meta.url);
const core = require('@tensorflow/tfjs-core');

/** A subclass with TensorFlow.js's own chain, as it is before the backend is there. */
function chainOf(Optimizer) {
  const { applyGradients } = Optimizer.prototype;
  return class extends Optimizer {
    applyGradients(gradients) {
      applyGradients.call(this, gradients);
    }
  };
}

const OPTIMIZERS = [
  ['SgdUpdate', core.SGDOptimizer, [[0.01], [3]]],
  [
    'MomentumUpdate',
    core.MomentumOptimizer,
    [
      [0.01, 0.9],
      [0.01, 0.9, true],
      [0.5, 0, false],
    ],
  ],
  ['AdagradUpdate', core.AdagradOptimizer, [[0.01], [0.3, 0]]],
  [
    'AdadeltaUpdate',
    core.AdadeltaOptimizer,
    [
      [0.001, 0.95],
      [1, 0.5, 1e-3],
    ],
  ],
  [
    'AdamaxUpdate',
    core.AdamaxOptimizer,
    [
      [0.002, 0.9, 0.999],
      [0.3, 0.5, 0.8, 1e-3, 0.1],
    ],
  ],
  [
    'RmsPropUpdate',
    core.RMSPropOptimizer,
    [[0.01], [0.01, 0.9, 0.5], [0.1, 0.8, 0.3, 1e-3, true], [0.01, 0.9, 0, undefined, true]],
  ],
].map(([op, Optimizer, settings]) => ({ op, Optimizer, Chain: chainOf(Optimizer), settings }));

const { ebb, leavesNothing, tf, values } = await import('./backend_support.mjs');

const KEPT =
  /^(accumulations|accumulatedGrads|accumulatedUpdates|accumulatedFirstMoment|accumulatedWeightedInfNorm|accumulatedMeanSquares|accumulatedMoments|accumulatedMeanGrads)$/;
const SCALARS = ['accBeta1', 'iteration'];
const SHAPES = [[7, 5], [5], [129], [], [200, 301], [0, 3]];
const kernelsOf = async (run) => (await tf.profile(run)).kernels.map(({ name }) => name);
const bits = (tensor) => Array.from(new Uint32Array(Float32Array.from(values(tensor)).buffer));
const random = (shape, seed, scale = 1) => tf.randomNormal(shape, 0, scale, 'float32', seed);

/** A model's variables, gradients for any step, and an optimizer. */
function world(optimizer, shapes = SHAPES) {
  const variables = shapes.map((shape, i) => tf.tidy(() => random(shape, i + 1).variable(true)));
  const gradients = (step) =>
    variables.map((variable, i) => ({
      name: variable.name,
      tensor: random(variable.shape, 100 * step + i, 10 ** ((step % 5) - 3)),
    }));
  return {
    variables,
    optimizer,
    gradients,
    step(n) {
      const given = gradients(n);
      optimizer.applyGradients(given);
      tf.dispose(given.map(({ tensor }) => tensor));
    },
    state() {
      const kept = Object.keys(optimizer).filter((name) => KEPT.test(name));
      const ofVariables = kept.flatMap((name) => optimizer[name].map(({ variable }) => variable));
      const scalars = SCALARS.filter((name) => name in optimizer).map((name) => optimizer[name]);
      const all = [...variables, ...ofVariables, ...scalars].map(bits);
      return { iterations: optimizer.iterations, all };
    },
    dispose() {
      optimizer.dispose();
      if ('m' in optimizer) optimizer.c.dispose(); // TensorFlow.js leaves momentum's
      tf.dispose(variables);
    },
  };
}

for (const { op, Optimizer, Chain, settings } of OPTIMIZERS) {
  describe(op, () => {
    leavesNothing();

    test('is bit by bit the chain of TensorFlow.js over 12 steps', () => {
      for (const numbers of settings) {
        const one = world(new Optimizer(...numbers));
        const other = world(new Chain(...numbers));
        for (let i = 1; i <= 12; i++) {
          one.step(i);
          other.step(i);
          assert.deepEqual(one.state(), other.state(), `step ${i} of ${numbers}`);
        }
        one.dispose();
        other.dispose();
      }
    });

    test('is one kernel, after the first', async () => {
      const one = world(new Optimizer(...settings[0]));
      one.step(1);
      const given = one.gradients(2);
      const before = tf.memory();
      assert.deepEqual(await kernelsOf(() => one.optimizer.applyGradients(given)), [op]);
      assert.equal(tf.memory().numTensors, before.numTensors);
      assert.equal(tf.memory().numBytes, before.numBytes);
      tf.dispose(given.map(({ tensor }) => tensor));
      one.dispose();
    });

    test('leaves to TensorFlow.js what is unusual', async () => {
      const one = world(new Optimizer(...settings[0]), [[3], [4]]);
      const other = world(new Chain(...settings[0]), [[3], [4]]);
      one.step(1);
      other.step(1);
      const [a, b] = one.gradients(2);
      const [c, d] = other.gradients(2);
      const kernels = await kernelsOf(() =>
        one.optimizer.applyGradients([a, { name: b.name, tensor: null }]),
      );
      assert.equal(kernels.includes(op), false, 'no gradient');
      other.optimizer.applyGradients([c, { name: d.name, tensor: null }]);
      assert.deepEqual(one.state(), other.state());
      const wrong = { name: a.name, tensor: tf.zeros([3, 3]) };
      assert.throws(() => one.optimizer.applyGradients([wrong]), /shape/);
      const whole = { name: a.name, tensor: tf.tensor1d([1, 2, 3], 'int32') };
      const ofInts = await kernelsOf(() => one.optimizer.applyGradients([whole]));
      assert.equal(ofInts.includes(op), false, 'int32');
      tf.dispose([a, b, c, d, wrong, whole].map(({ tensor }) => tensor));
      one.dispose();
      other.dispose();
    });

    test('moves with its variables to another backend and back', async () => {
      const one = world(new Optimizer(...settings[0]), [[3], [4, 5]]);
      const other = world(new Chain(...settings[0]), [[3], [4, 5]]);
      for (const backend of ['ebb', 'cpu', 'ebb']) {
        await tf.setBackend(backend);
        for (let i = 1; i <= 2; i++) {
          one.step(i);
          other.step(i);
        }
        assert.deepEqual(one.state(), other.state(), backend);
      }
      one.dispose();
      other.dispose();
    });

    test('goes through minimize, with reclaim on', () => {
      ebb.reclaim.on();
      try {
        const states = [new Optimizer(...settings[0]), new Chain(...settings[0])].map((each) => {
          const one = world(each, [[3], [2, 2]]);
          const loss = () => tf.addN(one.variables.map((variable) => variable.square().sum()));
          for (let i = 0; i < 4; i++) each.minimize(loss, true, one.variables).dispose();
          const state = one.state();
          one.dispose();
          return state;
        });
        assert.deepEqual(states[0], states[1]);
      } finally {
        ebb.reclaim.off();
      }
    });
  });
}

describe('a rate that changes', () => {
  leavesNothing();

  test('is taken by the next step', () => {
    const [{ Optimizer, Chain }] = OPTIMIZERS;
    const [one, other] = [new Optimizer(0.1), new Chain(0.1)].map((each) => world(each, [[3]]));
    for (const { step, optimizer } of [one, other]) {
      step(1);
      optimizer.setLearningRate(0.7);
      step(2);
    }
    assert.deepEqual(one.state(), other.state());
    one.dispose();
    other.dispose();
  });

  test('of Adagrad, too', () => {
    const { Optimizer, Chain } = OPTIMIZERS[2];
    const [one, other] = [new Optimizer(0.1), new Chain(0.1)].map((each) => world(each, [[3]]));
    for (const { step, optimizer } of [one, other]) {
      step(1);
      optimizer.learningRate = 0.7;
      step(2);
    }
    assert.deepEqual(one.state(), other.state());
    one.dispose();
    other.dispose();
  });
});
