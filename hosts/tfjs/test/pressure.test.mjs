// Items 6 and 7: budgets, and a backend that runs out.
import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { assertBooks, collected, ebb, onEachBackend, sleep, tf, use } from './support.mjs';

const MB = 2 ** 20;

function warnings(run) {
  const seen = [];
  const note = (warning) => warning.name === 'EbbWarning' && seen.push(warning.message);
  process.on('warning', note);
  return Promise.resolve(run())
    .then(() => sleep(5))
    .finally(() => process.off('warning', note))
    .then(() => seen);
}

onEachBackend('pressure', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });
  beforeEach(async () => {
    ebb.budget('8GB');
    await collected();
  });

  test('the peak is bounded by the budget while the reachable set fits', async () => {
    const start = ebb.memory();
    ebb.budget(start.liveBytes + 32 * MB);
    let most = 0;
    const seen = await warnings(() => {
      for (let i = 0; i < 400; i++) {
        tf.ones([512, 512]); // 1 MB
        most = Math.max(most, ebb.memory().liveBytes - start.liveBytes);
      }
    });
    assert.ok(most <= 34 * MB, `${most / MB} MB`);
    assert.ok(
      ebb.memory().collections.minor + ebb.memory().collections.major > start.collections.minor,
    );
    assert.deepEqual(seen, []);
  });

  test('the same where tensors are made from values alone, and no kernel runs in between', () => {
    ebb.budget(ebb.memory().liveBytes + 32 * MB);
    const start = tf.engine().state.numBytes; // as below: asking memory() in the loop would be a safe point
    const values = new Float32Array(512 * 512);
    let most = 0;
    for (let i = 0; i < 400; i++) {
      tf.tensor2d(values, [512, 512]);
      most = Math.max(most, tf.engine().state.numBytes - start);
    }
    assert.ok(most <= 34 * MB, `${most / MB} MB`);
  });

  test('a soft budget: one warning names the sites, and the program goes on', async () => {
    ebb.trace.on();
    const held = [];
    const start = ebb.memory().liveBytes;
    const seen = await warnings(() => {
      ebb.budget(start + 8 * MB);
      for (let i = 0; i < 24; i++) held.push(tf.ones([512, 512]));
      tf.add(1, 2).dispose();
    });
    ebb.trace.off();
    assert.equal(held.length, 24);
    assert.equal(seen.length, 1, 'one warning for each device');
    assert.match(seen[0], /pressure\.test\.mjs:\d+/);
    tf.dispose(held);
  });

  test('a strict budget refuses a tensor that alone is larger', () => {
    const start = tf.memory();
    ebb.budget(ebb.memory().liveBytes + 20 * MB, { strict: true });
    const values = new Float32Array(16 * MB);
    assert.throws(() => tf.tensor1d(values), { code: 'EBB_OUT_OF_MEMORY' });
    assert.equal(tf.memory().numTensors, start.numTensors);
  });

  test('a strict budget throws, naming the sites, and what was there stays right', async () => {
    ebb.trace.on();
    const held = [];
    const start = ebb.memory().liveBytes;
    ebb.budget(start + 8 * MB, { strict: true });
    assert.throws(
      () => {
        for (let i = 0; i < 24; i++) held.push(tf.add(tf.fill([512, 512], i), 0));
      },
      (error) =>
        error.code === 'EBB_OUT_OF_MEMORY' && /pressure\.test\.mjs:\d+/.test(error.message),
    );
    ebb.trace.off();
    ebb.budget('8GB');
    held.forEach((tensor, i) => assert.equal(tensor.dataSync()[7], i));
    tf.dispose(held);
    assertBooks();
  });
});

test('another backend: the ladder runs, the kernel is tried once more', async () => {
  await use('cpu');
  ebb.reclaim.on();
  const { kernelFunc } = tf.getKernel('Relu', 'cpu');
  const kernel = tf.getKernel('Relu', 'cpu');
  let failures = 0;
  let room = 0;
  kernel.kernelFunc = (call) => {
    const scratch = call.backend.makeTensorInfo([8], 'float32', new Float32Array(8));
    if (tf.engine().state.numTensors > room) {
      failures++;
      throw new RangeError('Array buffer allocation failed');
    }
    call.backend.disposeIntermediateTensorInfo(scratch);
    return kernelFunc(call);
  };
  try {
    const x = tf.tensor1d([-1, 1]);
    room = await collected();
    (() => {
      for (let i = 0; i < 20; i++) tf.tensor1d([i]);
    })();
    await sleep(1);
    const ids = tf.backend().numDataIds();
    const y = tf.relu(x);
    assert.deepEqual([...y.dataSync()], [0, 1]);
    assert.equal(failures, 1);
    assert.ok(tf.backend().numDataIds() < ids, 'what the failed try had allocated is given back');
    y.dispose();
    room = -1;
    await collected();
    assert.throws(
      () => tf.relu(x),
      (error) => error.code === 'EBB_OUT_OF_MEMORY' && /allocation failed/.test(error.message),
    );
    x.dispose();
  } finally {
    kernel.kernelFunc = kernelFunc;
  }
  assertBooks();
});
