// Kernels that go past the engine's own runKernelFunc: nothing of what people can see may be different.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ebb, onEachBackend, tf, use } from './support.mjs';

onEachBackend('kernels directly', (backend) => {
  let theirs = 0;
  const { ENV } = tf.engine();
  const { getBool } = ENV;

  before(async () => {
    await use(backend);
    ebb.reclaim.on();
    tf.add(1, 2).dispose(); // the engine has asked for its settings
    // The engine's own way asks for this one; the direct way never does.
    ENV.getBool = (flag) => {
      if (flag === 'IS_TEST') theirs++;
      return getBool.call(ENV, flag);
    };
  });
  after(() => {
    ENV.getBool = getBool;
  });

  /** Whether the engine itself ran what `body` runs. */
  function runsItself(body) {
    theirs = 0;
    const result = tf.tidy(body);
    return [theirs > 0, result];
  }

  test('a small operation goes directly', () => {
    const [itself, values] = runsItself(() => tf.add([1, 2], [3, 4]).arraySync());
    assert.deepEqual(values, [4, 6]);
    assert.equal(itself, false);
  });

  test('several results are an array, one result is not', () => {
    tf.tidy(() => {
      assert.deepEqual(
        tf.split(tf.tensor1d([1, 2, 3, 4]), 2).map((part) => part.arraySync()),
        [
          [1, 2],
          [3, 4],
        ],
      );
      assert.equal(Array.isArray(tf.engine().runKernel('Neg', { x: tf.scalar(1) })), false);
    });
  });

  test('a profile sees every kernel', async () => {
    const x = tf.tensor1d([1, 2]);
    const { kernels } = await tf.profile(() => tf.tidy(() => tf.relu(tf.add(x, 1)).mul(2)));
    const names = kernels.map(({ name }) => name);
    for (const name of ['Add', 'Relu', 'Multiply']) assert.ok(names.includes(name), `${names}`);
    tf.dispose(x);
  });

  test('gradients are taken by the engine where it takes them', () => {
    const [itself, gradient] = runsItself(() =>
      tf
        .grad((x) =>
          tf.customGrad((y) => ({ value: tf.square(y), gradFunc: (dy) => dy.mul(5) }))(x),
        )(tf.tensor1d([1, 2]))
        .arraySync(),
    );
    assert.deepEqual(gradient, [5, 5]);
    assert.equal(itself, true);
  });

  test('settings that want each kernel looked at are obeyed', () => {
    const wasTest = ENV.getBool('IS_TEST');
    ENV.set('IS_TEST', true);
    try {
      assert.equal(runsItself(() => void tf.add(1, 2))[0], true);
    } finally {
      ENV.set('IS_TEST', wasTest);
    }
    assert.equal(runsItself(() => void tf.add(1, 2))[0], false);
  });

  test('kernels that come and go are seen', () => {
    const kernelName = 'EbbOneMore';
    const run = () => tf.engine().runKernel(kernelName, { x: tf.scalar(1) });
    assert.throws(() => tf.tidy(run), {
      message: `Kernel '${kernelName}' not registered for backend '${backend}'`,
    });
    const answer = (value) => () => tf.scalar(value);
    tf.registerKernel({ kernelName, backendName: backend, kernelFunc: answer(1) });
    assert.equal(
      tf.tidy(() => run().arraySync()),
      1,
    );
    tf.unregisterKernel(kernelName, backend);
    tf.registerKernel({ kernelName, backendName: backend, kernelFunc: answer(2) });
    assert.equal(
      tf.tidy(() => run().arraySync()),
      2,
    );
    tf.unregisterKernel(kernelName, backend);
    assert.throws(() => tf.tidy(run), /not registered/);
  });

  test('a kernel that throws leaves the engine as it was', () => {
    const kernelName = 'EbbThrows';
    const kernelFunc = () => {
      throw new Error('as it should');
    };
    tf.registerKernel({ kernelName, backendName: backend, kernelFunc });
    const { kernelDepth } = tf.engine().state;
    assert.throws(() => tf.engine().runKernel(kernelName, {}), /as it should/);
    assert.equal(tf.engine().state.kernelDepth, kernelDepth);
    tf.unregisterKernel(kernelName, backend);
  });
});
