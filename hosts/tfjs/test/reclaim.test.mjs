// Items 1 and 2: tensors that nobody can reach are given back, at safe points, on any backend.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { collected, ebb, onEachBackend, sleep, tf, use } from './support.mjs';

onEachBackend('reclaim', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });

  test('one synchronous loop: tensors come back while it runs', () => {
    const x = tf.ones([64, 64]);
    const start = tf.memory().numTensors;
    let most = 0;
    for (let i = 0; i < 30000; i++) {
      tf.add(x, 1);
      if (i % 100 === 0) most = Math.max(most, tf.memory().numTensors - start);
    }
    assert.ok(most < 15000, `${most} tensors alive at once`);
    x.dispose();
  });

  test('the values of what is still held are right after many collections', () => {
    const held = [];
    for (let i = 0; i < 200; i++) {
      const x = tf.fill([32], i);
      held.push(tf.add(tf.mul(x, 2), 1));
      if (i % 20 === 0) ebb.collect('minor');
      if (i % 50 === 0) ebb.collect();
    }
    held.forEach((tensor, i) =>
      assert.deepEqual([...tensor.dataSync()], Array(32).fill(2 * i + 1)),
    );
    tf.dispose(held);
  });

  test('data shared by several tensors lives as long as one of them', async () => {
    const start = await collected();
    const view = (() => tf.reshape(tf.add(tf.ones([6]), 1), [2, 3]))();
    assert.equal(await collected(), start + 1);
    assert.deepEqual([...view.dataSync()], [2, 2, 2, 2, 2, 2]);
    view.dispose();
  });

  test('memory() is a safe point', async () => {
    const start = await collected();
    (() => tf.tensor1d([1, 2, 3]))();
    await sleep(1);
    ebb.collect('minor');
    assert.ok(tf.memory().numTensors <= start + 1);
    assert.equal(await collected(), start);
    assert.equal(ebb.memory().orphans, 0);
  });

  test('idle: counts are back within 2 s of the program going quiet', async () => {
    const start = await collected();
    (() => {
      for (let i = 0; i < 500; i++) tf.add(tf.tensor1d([i]), 1);
    })();
    await sleep(2000);
    assert.equal(tf.engine().state.numTensors, start);
  });

  test('a tensor whose data() is pending is not given back before it settles', async () => {
    const start = await collected();
    const instance = tf.backend();
    const { read } = instance;
    let answer;
    let args;
    instance.read = (...given) => {
      args = given;
      return new Promise((resolve) => (answer = () => resolve(instance.readSync(...args))));
    };
    try {
      const pending = (() => tf.add(tf.tensor1d([1, 2]), 1).data())();
      assert.equal(await collected(), start + 1);
      answer();
      assert.deepEqual([...(await pending)], [2, 3]);
      answer = args = undefined; // who has a data id may read the data
    } finally {
      instance.read = read;
    }
    assert.equal(await collected(), start);
  });

  test('nothing is given back while a kernel runs', () => {
    const name = `EbbProbe${backend}`;
    const inside = [];
    tf.registerKernel({
      kernelName: name,
      backendName: backend,
      kernelFunc: ({ inputs }) => {
        const before = tf.memory().numTensors;
        ebb.collect();
        inside.push(tf.memory().numTensors - before);
        return tf.add(inputs.x, 1);
      },
    });
    (() => {
      for (let i = 0; i < 50; i++) tf.tensor1d([i]);
    })();
    const result = tf.engine().runKernel(name, { x: tf.tensor1d([1]) });
    assert.deepEqual(inside, [0]);
    assert.deepEqual([...result.dataSync()], [2]);
    tf.unregisterKernel(name, backend);
  });

  test('the body of a customGrad is not a kernel', async () => {
    const start = await collected();
    let most = 0;
    const square = tf.customGrad((x, save) => {
      save([x]);
      for (let i = 0; i < 3000; i++) {
        tf.add(x, i);
        if (i % 500 === 499) ebb.collect('minor');
        most = Math.max(most, tf.engine().state.numTensors);
      }
      return { value: tf.square(x), gradFunc: (dy, [saved]) => dy.mul(saved.mul(2)) };
    });
    const gradient = tf.grad((x) => square(x))(tf.tensor1d([3]));
    assert.deepEqual([...gradient.dataSync()], [6]);
    assert.ok(most < start + 2500, `${most - start} alive`);
    gradient.dispose();
  });

  test('complex and string tensors', async () => {
    const start = await collected();
    const words = tf.tensor1d(['to', 'ebb']);
    assert.deepEqual(words.dataSync(), ['to', 'ebb']);
    (() => tf.tensor1d(['gone'.repeat(100)]))();
    if (backend !== 'wasm') (() => tf.real(tf.complex([1, 2], [3, 4])))();
    assert.equal(await collected(), start + 1);
    words.dispose();
    assert.equal(tf.memory().numTensors, start);
  });
});
