// Backend `ebb-cuda` from Node: node node_test.cjs, beside the folder that tools/pack_cuda_node.cjs fills.
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { join } = require('node:path');
const { test } = require('node:test');

process.env.EBB_DEVICE ??= 'cuda:0';
const root = process.env.EBB_NODE_ROOT ?? join(__dirname, 'node');
const tf = require(join(root, 'dist', 'backend'));
const ebb = require(root);
ebb.reclaim.on();

const MEGABYTE = 2 ** 20;

/** What the driver says is in use on the GPU, by all processes, in megabytes. */
function driverMegabytes() {
  const query = ['--query-gpu=memory.used', '--format=csv,noheader,nounits', '-i', '0'];
  return Number(execFileSync('nvidia-smi', query, { encoding: 'utf8' }));
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Everything dead is given back, and what is kept for reuse too; the driver's figure a second later at most. */
async function megabytesWhenQuiet() {
  ebb.collect();
  ebb.trim();
  await sleep(500);
  return driverMegabytes();
}

test('EBB_DEVICE chooses the backend', () => {
  assert.equal(tf.getBackend(), 'ebb-cuda');
});

test('computes', async () => {
  const x = tf.tensor2d([1, 2, 3, 4], [2, 2]);
  assert.deepEqual([...x.matMul(x).dataSync()], [7, 10, 15, 22]);
  assert.deepEqual([...(await x.mul(2).add(1).relu().data())], [3, 5, 7, 9]);
});

test('data() leaves the loop free while the GPU works', async () => {
  const x = tf.ones([4096, 4096]);
  const work = (times) => {
    let y = x;
    for (let i = 0; i < times; i++) y = tf.matMul(y, x).div(4096);
    return y.sum();
  };
  // A kernel's first launch loads its code, and memory that is not there yet is made: both may wait for the GPU.
  tf.tidy(() => work(40)).dataSync();
  let rounds = 0;
  let over = false;
  const count = () => {
    rounds++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const values = await tf.tidy(() => work(40)).data();
  over = true;
  assert.equal(values[0], 4096 * 4096);
  assert.ok(rounds > 1, `${rounds} rounds of the loop`);
});

test('a tensor disposed while it is read gives its values', async () => {
  const x = tf.fill([1 << 20], 3);
  const values = x.data();
  x.dispose();
  assert.equal((await values)[12345], 3);
});

test('tensors move between ebb and ebb-cuda', async () => {
  const x = tf.tensor1d([1, 2, 3]);
  await tf.setBackend('ebb');
  const y = x.add(1);
  assert.deepEqual([...y.dataSync()], [2, 3, 4]);
  await tf.setBackend('ebb-cuda');
  assert.deepEqual([...y.mul(x).dataSync()], [2, 6, 12]);
});

test('each GPU has a backend of its own; one that is not there is refused', async () => {
  const x = tf.tensor1d([1, 2, 3]);
  assert.equal(await tf.setBackend('ebb-cuda:0'), true);
  const y = x.add(1);
  assert.deepEqual([...y.dataSync()], [2, 3, 4]);
  assert.equal(await tf.setBackend('ebb-cuda:7'), false);
  assert.equal(await tf.setBackend('ebb-cuda'), true);
  assert.deepEqual([...y.mul(x).dataSync()], [2, 6, 12]);
});

test('several regions at once: an async tidy frees its own', async () => {
  await megabytesWhenQuiet(); // what the tests before dropped would come back meanwhile
  const before = tf.memory().numTensors;
  const sums = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      ebb.tidy(async () => {
        const x = tf.fill([1000], i);
        await sleep(i % 7);
        return x.add(1).sum();
      }),
    ),
  );
  assert.equal(tf.memory().numTensors, before + 50);
  for (let i = 0; i < 50; i++) assert.equal(sums[i].dataSync()[0], 1000 * (i + 1));
  tf.dispose(sums);
});

test('a report names the places that hold memory', () => {
  ebb.trace.on();
  const held = tf.zeros([1 << 20]);
  assert.match(ebb.report({ top: 5 }), /node_test\.cjs:\d+/);
  ebb.trace.off();
  held.dispose();
});

/** The first seed's example, with tensors of 8 MB. */
async function leakyOperation() {
  tf.fill([2 << 20], 1).add(1);
  await new Promise((resolve) => setImmediate(resolve));
}

test('1,000 tensors of 8 MB dropped under 256 MB: the driver sees no more than the budget', async () => {
  await leakyOperation(); // loads kernels, which take memory of the GPU for good
  const before = await megabytesWhenQuiet();
  const budget = ebb.budget();
  ebb.budget('256MB');
  let most = 0;
  for (let i = 0; i < 1000; i++) {
    await leakyOperation();
    if (i % 50 === 49) most = Math.max(most, driverMegabytes() - before);
  }
  const after = (await megabytesWhenQuiet()) - before;
  ebb.budget(budget);
  console.log(`# 1,000 x 8 MB: ${most} MB above the start at most, ${after} MB after`);
  assert.ok(most > 0 && most <= 256 + 32, `${most} MB at most`);
  assert.ok(after <= 16, `${after} MB after`);
  ebb.audit();
});

test('a model dropped without dispose: its memory is back with the driver', async () => {
  const use = async () => {
    const model = tf.sequential();
    model.add(tf.layers.dense({ inputShape: [4096], units: 4096, activation: 'relu' }));
    model.add(tf.layers.dense({ units: 4096 }));
    const y = model.predict(tf.ones([8, 4096]));
    await y.data();
    return driverMegabytes();
  };
  await use();
  const before = await megabytesWhenQuiet();
  const during = (await use()) - before;
  const after = (await megabytesWhenQuiet()) - before;
  console.log(`# a model of 134 MB: ${during} MB above the start, ${after} MB after`);
  assert.ok(during >= 120, `${during} MB during`); // some of it may have been kept in pieces that are in use
  assert.ok(after <= 16, `${after} MB after`);
});

test('disposed by hand: trim gives the memory back too', async () => {
  const before = await megabytesWhenQuiet();
  const x = tf.fill([64 * MEGABYTE], 1); // 256 MB
  x.dataSync();
  assert.ok(driverMegabytes() - before >= 248);
  x.dispose();
  assert.ok(ebb.trim() >= 248 * MEGABYTE);
  await sleep(500);
  assert.ok(driverMegabytes() - before <= 16);
});

test('more than the GPU has: an error that says so, and work goes on', () => {
  const held = [];
  assert.throws(() => {
    for (;;) held.push(tf.fill([1 << 30], 1)); // 4 GB each
  }, /no room/);
  assert.ok(held.length > 4, `${held.length} held`);
  tf.dispose(held);
  assert.equal(tf.fill([4], 2).sum().dataSync()[0], 8);
});

test('trains', async () => {
  const model = tf.sequential();
  model.add(tf.layers.dense({ inputShape: [8], units: 16, activation: 'relu' }));
  model.add(tf.layers.dense({ units: 1 }));
  model.compile({ optimizer: tf.train.adam(0.01), loss: 'meanSquaredError' });
  const x = tf.randomNormal([256, 8], 0, 1, 'float32', 1);
  const y = x.sum(1, true);
  const first = (await model.trainOnBatch(x, y));
  let last = first;
  for (let i = 0; i < 200; i++) last = await model.trainOnBatch(x, y);
  assert.ok(last < first / 10, `${first} to ${last}`);
});

test("Adam's step is one kernel, and gives what TensorFlow.js's own backend gives", async () => {
  const here = tf.getBackend();
  const start = Array.from({ length: 1027 }, (_, i) => Math.sin(i));
  const slopes = start.map((_, i) => Math.cos(7 * i) * 10 ** ((i % 9) - 4));
  const stepped = async (backend) => {
    await tf.setBackend(backend);
    const x = tf.variable(tf.tensor1d(start));
    const optimizer = tf.train.adam(0.01);
    const gradients = [{ name: x.name, tensor: tf.tensor1d(slopes) }];
    for (let i = 0; i < 9; i++) optimizer.applyGradients(gradients);
    const { kernels } = await tf.profile(() => optimizer.applyGradients(gradients));
    return { kernels: kernels.map(({ name }) => name), values: await x.data() };
  };
  const theirs = await stepped('cpu');
  const ours = await stepped(here);
  assert.deepEqual(ours.kernels, ['AdamUpdate']);
  assert.equal(theirs.kernels.length, 14 + 4);
  ours.values.forEach((value, i) => assert.ok(Math.abs(value - theirs.values[i]) <= 1e-5, `${i}: ${value}`));
});

test('each optimizer lowers the loss', () => {
  const make = {
    sgd: () => tf.train.sgd(0.1),
    momentum: () => tf.train.momentum(0.1, 0.9, true),
    adagrad: () => tf.train.adagrad(0.1),
    adadelta: () => tf.train.adadelta(0.1),
    adam: () => tf.train.adam(0.1),
    adamax: () => tf.train.adamax(0.1),
    rmsprop: () => tf.train.rmsprop(0.1, 0.9, 0.5, 1e-8, true),
  };
  for (const [name, optimizer] of Object.entries(make)) {
    const w = tf.variable(tf.tensor1d([1, -2, 3, -4]));
    const chosen = optimizer();
    const losses = [];
    for (let i = 0; i < 60; i++) {
      const loss = chosen.minimize(() => tf.sum(tf.square(w)), true, [w]);
      losses.push(loss.dataSync()[0]);
    }
    assert.ok(losses.at(-1) < losses[0], `${name}: ${losses[0]} to ${losses.at(-1)}`);
    w.dispose();
    chosen.dispose();
  }
});

test('a recorded function gives what the function gives, and is run by the core', () => {
  const w = tf.variable(tf.ones([4, 3]));
  const step = (x) => {
    const y = tf.relu(tf.matMul(x, w));
    w.assign(tf.add(w, tf.mean(y)));
    return tf.softmax(y);
  };
  const recorded = ebb.record(step);
  const x = tf.tensor2d([1, 2, 3, 4, 5, 6, 7, 8], [2, 4]);
  const values = [];
  for (const fn of [recorded, recorded, recorded]) values.push([...fn(x).dataSync()]);
  const after = [...w.dataSync()];
  w.assign(tf.ones([4, 3]));
  for (const expected of values) {
    const got = [...step(x).dataSync()];
    got.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-5));
  }
  [...w.dataSync()].forEach((value, i) => assert.ok(Math.abs(value - after[i]) < 1e-3 * Math.abs(value)));
  assert.match(ebb.report(), /recorded/i);
});

/** Calls, replays and recordings of a recorded function of this name. */
function recordedAs(name) {
  const all = ebb.report({ json: true }).recorded.filter((each) => each.name === name);
  assert.equal(all.length, 1, name);
  return all[0];
}

const close = (ours, theirs, most) => {
  assert.equal(ours.length, theirs.length);
  ours.forEach((each, i) => assert.ok(Math.abs(each - theirs[i]) <= most * (1 + Math.abs(theirs[i])), `${each}, ${theirs[i]}`));
};

function classifier() {
  const { layers } = tf;
  const seeded = (seed) => ({ kernelInitializer: tf.initializers.glorotUniform({ seed }) });
  const model = tf.sequential();
  model.add(layers.conv2d({ inputShape: [12, 12, 3], filters: 8, kernelSize: 3, activation: 'relu', ...seeded(1) }));
  model.add(layers.batchNormalization());
  model.add(layers.maxPooling2d({ poolSize: 2 }));
  model.add(layers.flatten());
  model.add(layers.dense({ units: 32, activation: 'relu', ...seeded(2) }));
  model.add(layers.dense({ units: 4, activation: 'softmax', ...seeded(3) }));
  const optimizer = tf.train.adam(0.01);
  model.compile({ optimizer, loss: 'categoricalCrossentropy', metrics: ['accuracy'] });
  return { model, optimizer };
}

const pictures = () => tf.randomNormal([16, 12, 12, 3], 0, 1, 'float32', 7);
const labels = () => tf.tidy(() => tf.oneHot(tf.range(0, 16, 1, 'int32').mod(tf.scalar(4, 'int32')), 4).toFloat());

test('a recorded model predicts and trains as one that is not, by replays, its gradients those of the core', async () => {
  const steps = 20;
  const outcomes = [];
  const [x, y] = [pictures(), labels()];
  for (const name of ['', 'replayed', 'launched']) {
    const { model, optimizer } = classifier();
    if (name !== '') ebb.record(model, { name, graphs: name === 'replayed' });
    const before = ebb.tape.info();
    const losses = [];
    for (let i = 0; i < steps; i++) losses.push(...(await model.trainOnBatch(x, y)));
    const predicted = [];
    for (let i = 0; i < 6; i++) {
      const given = model.predict(x);
      predicted.push(...given.dataSync());
      given.dispose();
    }
    const after = ebb.tape.info();
    // The first step makes variables and the second is recorded: replays take no gradients of their own.
    assert.equal(after.native - before.native, name === '' ? steps : 2);
    assert.deepEqual(after.theirs, before.theirs);
    if (name !== '') {
      assert.deepEqual([recordedAs(`${name}.train`).replayed, recordedAs(`${name}.predict`).replayed], [steps - 2, 5]);
    }
    outcomes.push({ losses, predicted, weights: model.getWeights().map((each) => [...each.dataSync()]) });
    assert.equal(optimizer.iterations, steps);
    model.dispose();
    optimizer.dispose();
  }
  const [eager, ...recorded] = outcomes;
  for (const { losses, predicted, weights } of recorded) {
    close(losses, eager.losses, 1e-4);
    close(predicted, eager.predicted, 1e-4);
    weights.forEach((each, i) => close(each, eager.weights[i], 1e-3)); // Adam divides by roots of tiny numbers
  }
  tf.dispose([x, y]);
});

test('50 replays of predict and trainOnBatch leave the memory as it was', async () => {
  const { model, optimizer } = classifier();
  ebb.record(model, { name: 'flat' });
  const [x, y] = [pictures(), labels()];
  const round = async () => {
    await model.trainOnBatch(x, y);
    const predicted = model.predict(x);
    predicted.dataSync();
    predicted.dispose();
  };
  const now = () => {
    ebb.collect();
    const { books, devices } = ebb.report({ json: true });
    const gpu = devices.find(({ name }) => name.startsWith(tf.getBackend() === 'ebb' ? 'cpu' : 'cuda'));
    return [tf.memory().numTensors, tf.memory().numBytes, books.bytes.live, gpu.in_use, gpu.committed];
  };
  for (let i = 0; i < 20; i++) await round();
  const before = now();
  for (let i = 0; i < 50; i++) await round();
  // Graphs settle, and what they no longer need goes back.
  now().forEach((each, i) => assert.ok(each <= before[i], `${i}: ${each}, ${before[i]} before`));
  assert.ok(recordedAs('flat.train').replayed >= 68 && recordedAs('flat.predict').replayed >= 69);
  ebb.audit();
  tf.dispose([x, y]);
  model.dispose();
  optimizer.dispose();
});

test('recorded dropout draws anew in each replay, and constants may be looked at', () => {
  const axes = tf.tensor1d([0], 'int32');
  const recorded = ebb.record((x) => [tf.dropout(x, 0.5), x.sum([...axes.dataSync()])], { name: 'drawing' });
  const x = tf.ones([1000]);
  const seen = new Set();
  for (let i = 0; i < 8; i++) {
    const [dropped, sum] = recorded(x);
    const values = [...dropped.dataSync()];
    assert.ok(values.every((each) => each === 0 || each === 2));
    seen.add(values.join());
    assert.equal(sum.dataSync()[0], 1000);
    tf.dispose([dropped, sum]);
  }
  assert.equal(seen.size, 8);
  assert.equal(recordedAs('drawing').replayed, 7);
  recorded.dispose();
  tf.dispose([x, axes]);
});
