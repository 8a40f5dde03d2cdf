// Item 3: each example of the two documents that started this, as they are but for the package's name, the
// waiting time and the number of rounds.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { collected, ebb, onEachBackend, tf, use } from './support.mjs';

onEachBackend('the seeds', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });

  test('1.1 dropped after an await', async () => {
    const start = await collected();
    async function leakyOperation() {
      const a = tf.tensor1d([1, 2, 3]); // Tensor created
      await new Promise((resolve) => setTimeout(resolve, 1)); //Asynchronous operation
      // 'a' is out of scope here, but not deallocated
      return void a;
    }
    async function main() {
      for (let i = 0; i < 200; i++) {
        await leakyOperation();
      }
    }
    await main();
    assert.equal(await collected(), start);
  });

  test('1.2 disposed after an await', async () => {
    const start = await collected();
    async function correctOperation() {
      const a = tf.tensor1d([1, 2, 3]);
      await new Promise((resolve) => setTimeout(resolve, 1));
      a.dispose(); // Explicitly release the GPU memory
    }
    async function main() {
      for (let i = 0; i < 200; i++) {
        await correctOperation();
      }
    }
    await main();
    assert.equal(tf.memory().numTensors, start);
  });

  test('1.3 tidy inside a promise', async () => {
    const start = await collected();
    async function asyncTensorOperation() {
      return tf.tidy(() => {
        const a = tf.tensor1d([1, 2, 3]);
        const b = tf.tensor1d([4, 5, 6]);
        const c = tf.add(a, b);
        return c;
      });
    }
    async function main() {
      const result = await asyncTensorOperation();
      assert.equal(tf.memory().numTensors, start + 1);
      assert.deepEqual([...result.dataSync()], [5, 7, 9]);
      result.dispose(); // Dispose of the result
    }
    await main();
    assert.equal(tf.memory().numTensors, start);
  });

  test('2.1 held by an array until it dies', async () => {
    const start = await collected();
    async function leakyFunction() {
      let tensors = [];
      for (let i = 0; i < 1000; i++) {
        const tensor = tf.tensor1d(Array(1000).fill(i)); // Create a large tensor
        tensors.push(tensor); // Add to array, preventing garbage collection
      }
      ebb.collect();
      assert.equal(tf.memory().numTensors, start + 1000);
      tensors.forEach((tensor, i) => assert.equal(tensor.dataSync()[999], i));
    }
    await leakyFunction();
    assert.equal(await collected(), start);
  });

  test('2.2 nextFrame and dispose', async () => {
    const start = await collected();
    async function efficientFunction() {
      for (let i = 0; i < 100; i++) {
        const tensor = tf.tensor1d(Array(1000).fill(i));
        await tf.nextFrame(); //Ensure operations are completed before disposal.
        tensor.dispose(); // Explicitly dispose of the tensor
      }
    }
    await efficientFunction();
    assert.equal(tf.memory().numTensors, start);
  });

  test('2.3 a model, disposed; and the same one dropped', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ebb-seed-'));
    const start = await collected();
    await (async () => {
      const model = tf.sequential({ layers: [tf.layers.dense({ units: 3, inputShape: [2] })] });
      await model.save(`file://${folder}`);
    })();
    const path = `file://${folder}/model.json`;
    assert.equal(await collected(), start);
    async function modelManagement(disposing) {
      const inputTensor = tf.ones([1, 2]);
      const model = await tf.loadLayersModel(path);
      // Use the model for inference
      const result = model.predict(inputTensor);
      assert.equal(result.shape[1], 3);
      if (!disposing) return;
      // Explicitly dispose of the model and input tensor after use
      model.dispose();
      inputTensor.dispose();
      await tf.nextFrame();
    }
    await modelManagement(true);
    assert.equal(await collected(), start);
    await modelManagement(false);
    assert.equal(await collected(), start);
    await rm(folder, { recursive: true });
  });

  test('closures and event listeners, until they are removed', async () => {
    const start = await collected();
    const emitter = new EventEmitter();
    (() => {
      const weights = tf.ones([10]);
      emitter.on('data', () => weights.sum().dataSync()[0]);
    })();
    assert.equal(await collected(), start + 1);
    emitter.removeAllListeners('data');
    assert.equal(await collected(), start);
  });
});
