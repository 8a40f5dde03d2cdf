// Adam's step as one operation: what TensorFlow.js's chain gives, and nothing else about it is different.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));
const { AdamOptimizer } = require('@tensorflow/tfjs-core');
// As it is before the backend is there: TensorFlow.js's own chain.
const { applyGradients: chain } = AdamOptimizer.prototype;
const { ebb, leavesNothing, tf, values } = await import('./backend_support.mjs');

class Chain extends AdamOptimizer {
  applyGradients(gradients) {
    chain.call(this, gradients);
  }
}

const kernelsOf = async (run) => (await tf.profile(run)).kernels.map(({ name }) => name);
const bits = (array) => Array.from(new Uint32Array(Float32Array.from(array).buffer));

function random(shape, seed, scale = 1) {
  return tf.randomNormal(shape, 0, scale, 'float32', seed);
}

/** A model's variables, gradients for any step, and an optimizer. */
function world(Optimizer, { shapes = [[7, 5], [5], [129], []], rate = 0.01, epsilon } = {}) {
  const variables = shapes.map((shape, i) => tf.tidy(() => random(shape, i + 1).variable(true)));
  const gradients = (step) =>
    variables.map((variable, i) => ({
      name: variable.name,
      tensor: random(variable.shape, 100 * step + i, 10 ** ((step % 7) - 3)),
    }));
  return {
    variables,
    optimizer: new Optimizer(rate, 0.9, 0.999, epsilon),
    gradients,
    step(n) {
      const given = gradients(n);
      this.optimizer.applyGradients(given);
      tf.dispose(given.map(({ tensor }) => tensor));
    },
    async state() {
      const { optimizer } = this;
      const weights = await optimizer.getWeights();
      const all = [...variables, ...weights.slice(1).map(({ tensor }) => tensor)].map(values);
      const iterations = weights[0].tensor.dataSync()[0];
      weights[0].tensor.dispose();
      const powers = [optimizer.accBeta1, optimizer.accBeta2].map(values);
      return { iterations, bits: [...all, ...powers].map(bits) };
    },
    dispose() {
      this.optimizer.dispose();
      tf.dispose(variables);
    },
  };
}

describe("Adam's step", () => {
  leavesNothing();

  test('is bit by bit the chain of TensorFlow.js over 20 steps', async () => {
    const shapes = [[7, 5], [5], [129], [], [200, 301], [0, 3]];
    for (const options of [{}, { shapes }, { rate: 0.3, epsilon: 1e-3 }]) {
      const one = world(AdamOptimizer, options);
      const other = world(Chain, options);
      for (let i = 1; i <= 20; i++) {
        one.step(i);
        other.step(i);
        assert.deepEqual(await one.state(), await other.state(), `step ${i}`);
      }
      one.dispose();
      other.dispose();
    }
  });

  test('is one kernel, after the first', async () => {
    const one = world(AdamOptimizer);
    const other = world(Chain);
    one.step(1);
    other.step(1);
    const given = [one.gradients(2), other.gradients(2)];
    assert.deepEqual(await kernelsOf(() => one.optimizer.applyGradients(given[0])), ['AdamUpdate']);
    const many = await kernelsOf(() => other.optimizer.applyGradients(given[1]));
    assert.equal(many.length, 4 * 14 + 4);
    assert.deepEqual(await one.state(), await other.state());
    tf.dispose(given);
    one.dispose();
    other.dispose();
  });

  test('shows its shapes to tf.profile', async () => {
    const one = world(AdamOptimizer, { shapes: [[2, 3]] });
    one.step(1);
    const given = one.gradients(2);
    const { kernels } = await tf.profile(() => one.optimizer.applyGradients(given));
    const like = [2, 3];
    assert.deepEqual(kernels[0].inputShapes, [[], [], like, like, like, like]);
    assert.deepEqual(kernels[0].outputShapes, [[], [], like, like, like]);
    tf.dispose(given);
    one.dispose();
  });

  test('leaves as many tensors as the chain, and the gradients to their owner', () => {
    const counts = [AdamOptimizer, Chain].map((Optimizer) => {
      const one = world(Optimizer);
      one.step(1);
      const given = one.gradients(2);
      const before = tf.memory();
      one.optimizer.applyGradients(given);
      const after = tf.memory();
      assert.deepEqual(
        given.map(({ tensor }) => tensor.isDisposed),
        given.map(() => false),
      );
      tf.dispose(given.map(({ tensor }) => tensor));
      one.dispose();
      return [
        after.numTensors - before.numTensors,
        after.numDataBuffers - before.numDataBuffers,
        after.numBytes - before.numBytes,
      ];
    });
    assert.deepEqual(counts[0], [0, 0, 0]);
    assert.deepEqual(counts[0], counts[1]);
  });

  test('takes a map of gradients, and minimize and a tidy around it', async () => {
    const one = world(AdamOptimizer, { shapes: [[3], [2, 2]] });
    const other = world(Chain, { shapes: [[3], [2, 2]] });
    for (const { variables, optimizer } of [one, other]) {
      const loss = () => tf.addN(variables.map((variable) => variable.square().sum()));
      for (let i = 0; i < 3; i++) {
        const cost = tf.tidy(() => optimizer.minimize(loss, true, variables));
        cost.dispose();
        const { value, grads } = tf.variableGrads(loss, variables);
        optimizer.applyGradients(grads);
        tf.dispose([value, grads]);
      }
    }
    assert.deepEqual(await one.state(), await other.state());
    one.dispose();
    other.dispose();
  });

  test('goes on from saved weights', async () => {
    const states = [];
    for (const Optimizer of [AdamOptimizer, Chain]) {
      const one = world(Optimizer);
      one.step(1);
      one.step(2);
      const saved = await one.optimizer.getWeights();
      const next = new Optimizer(0.01, 0.9, 0.999);
      await next.setWeights(saved);
      saved[0].tensor.dispose();
      one.optimizer.dispose();
      one.optimizer = next;
      one.step(3);
      states.push(await one.state());
      one.dispose();
    }
    assert.equal(states[0].iterations, 3);
    assert.deepEqual(states[0], states[1]);
  });

  test('moves with its variables to another backend and back', async () => {
    const one = world(AdamOptimizer);
    const other = world(Chain);
    for (const backend of ['ebb', 'cpu', 'ebb']) {
      await tf.setBackend(backend);
      for (let i = 1; i <= 3; i++) {
        one.step(i);
        other.step(i);
      }
      assert.deepEqual(await one.state(), await other.state(), backend);
    }
    one.dispose();
    other.dispose();
  });

  test('leaves to TensorFlow.js what is unusual', async () => {
    const one = world(AdamOptimizer, { shapes: [[3], [4]] });
    one.step(1);
    const [a, b] = one.gradients(2);
    const kernels = async (given) => kernelsOf(() => one.optimizer.applyGradients(given));
    assert.equal(
      (await kernels([a, { name: b.name, tensor: null }])).length,
      14 + 4,
      'no gradient',
    );
    assert.equal((await kernels([])).length, 4, 'no variables');
    assert.equal((await kernels([a])).length, 1, 'the first ones only');
    assert.throws(() => one.optimizer.applyGradients([a, a]), /do not broadcast/);
    const wrong = { name: a.name, tensor: tf.zeros([3, 3]) };
    assert.throws(() => one.optimizer.applyGradients([wrong]), /shape of the new value/);
    assert.throws(() => one.optimizer.applyGradients([{ name: 'nobody', tensor: a.tensor }]));
    const whole = { name: a.name, tensor: tf.tensor1d([1, 2, 3], 'int32') };
    assert.equal((await kernels([whole])).includes('AdamUpdate'), false, 'int32');
    tf.dispose([a, b, wrong, whole].map(({ tensor }) => tensor));
    one.dispose();
  });

  test('of a variable that is given twice is two steps', async () => {
    const states = [];
    for (const Optimizer of [AdamOptimizer, Chain]) {
      const one = world(Optimizer, { shapes: [[3], [3]] });
      one.step(1);
      const [a, b] = one.gradients(2);
      one.optimizer.applyGradients([a, { ...b, name: a.name }]);
      tf.dispose([a.tensor, b.tensor]);
      states.push(await one.state());
      one.dispose();
    }
    assert.deepEqual(states[0], states[1]);
  });

  test('respects who has a step of their own', () => {
    let calls = 0;
    class Own extends AdamOptimizer {
      applyGradients(gradients) {
        calls++;
        super.applyGradients(gradients);
      }
    }
    const own = world(Own);
    own.step(1);
    own.step(2);
    assert.equal(calls, 2);
    own.optimizer.applyGradients = () => calls++;
    own.step(3);
    assert.deepEqual([calls, own.optimizer.iterations], [3, 2]);
    own.dispose();
  });

  test("leaves a program's own method in place, also one from before", () => {
    const program = `
      const { AdamOptimizer } = require('@tensorflow/tfjs-core');
      const { prototype } = AdamOptimizer;
      const { applyGradients } = prototype;
      const own = function (gradients) { applyGradients.call(this, gradients); };
      prototype.applyGradients = own;
      require('ebb-tfjs/backend');
      process.exit(prototype.applyGradients === own ? 0 : 1);`;
    const { status } = spawnSync(process.execPath, ['-e', program], { cwd: root });
    assert.equal(status, 0);
  });

  test('trains a model with fewer kernels and the same weights', async () => {
    const weights = [];
    for (const optimizer of [new AdamOptimizer(0.01, 0.9, 0.999), new Chain(0.01, 0.9, 0.999)]) {
      const init = (seed) => tf.initializers.glorotUniform({ seed });
      const model = tf.sequential();
      model.add(
        tf.layers.dense({
          inputShape: [6],
          units: 9,
          kernelInitializer: init(1),
          activation: 'relu',
        }),
      );
      model.add(tf.layers.dense({ units: 2, kernelInitializer: init(2) }));
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const [x, y] = [random([8, 6], 5), random([8, 2], 6)];
      for (let i = 0; i < 20; i++) await model.trainOnBatch(x, y);
      weights.push(model.getWeights().map((each) => bits(each.dataSync())));
      tf.dispose([x, y]);
      model.dispose();
      optimizer.dispose();
    }
    assert.deepEqual(weights[0], weights[1]);
  });

  test('holds no more while reclaim is on', async () => {
    ebb.reclaim.on();
    try {
      const one = world(AdamOptimizer);
      const other = world(Chain);
      for (let i = 1; i <= 5; i++) {
        one.step(i);
        other.step(i);
      }
      assert.deepEqual(await one.state(), await other.state());
      one.dispose();
      other.dispose();
    } finally {
      ebb.reclaim.off();
    }
  });
});
