// One measurement in a process of its own: work.cjs <work> <variant> <backend>, prints JSON.
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');

const [work, variant, backend] = process.argv.slice(2);

/** Starts a stopwatch; what it returns reads it, in us: the time on the clock, or that of this process if
 * others had the processor meanwhile. */
function stopwatch() {
  const clock = process.hrtime.bigint();
  const own = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(own);
    return Math.min(Number(process.hrtime.bigint() - clock) / 1e3, user + system);
  };
}
const ebb = () => require('..');

/** Median of the better half of many batches, in us a round. */
function best(rounds, run, batches = 40) {
  const times = [];
  for (let i = 0; i < batches; i++) {
    const read = stopwatch();
    run(rounds);
    times.push(read() / rounds);
  }
  return times.sort((a, b) => a - b)[Math.floor(batches / 4)];
}

function begin(options) {
  if (variant === 'off') return;
  ebb().reclaim.on();
  if (options?.trace && variant === 'trace') ebb().trace.on();
}

const smallAdd = () => {
  begin({ trace: true });
  const x = tf.tensor1d([1, 2, 3, 4, 5, 6, 7, 8]);
  return best(10000, (rounds) => {
    for (let i = 0; i < rounds; i++) tf.add(x, x).dispose();
  });
};

async function train() {
  begin();
  const model = tf.sequential();
  model.add(tf.layers.dense({ units: 128, inputShape: [784], activation: 'relu' }));
  model.add(tf.layers.dense({ units: 64, activation: 'relu' }));
  model.add(tf.layers.dense({ units: 10, activation: 'softmax' }));
  model.compile({ optimizer: 'adam', loss: 'categoricalCrossentropy' });
  const x = tf.randomNormal([32, 784]);
  const y = tf.oneHot(tf.randomUniform([32], 0, 10, 'int32'), 10);
  const rounds = backend === 'cpu' ? 20 : 100;
  const times = [];
  for (let i = 0; i < rounds; i++) {
    const read = stopwatch();
    await model.trainOnBatch(x, y);
    times.push(read());
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 4)];
}

/** 5,000 x {add, relu, reshape} of 1 MB: dropped under a budget, or disposed by hand 8 rounds late. */
function careless() {
  const v = tf.ones([256, 1024]);
  tf.tidy(() => tf.relu(tf.add(v, 1)).reshape([1024, 256]));
  if (variant === 'on') {
    ebb().reclaim.on();
    ebb().budget('64MB');
  }
  const late = [];
  const before = process.memoryUsage.rss();
  let most = 0;
  const read = stopwatch();
  for (let i = 0; i < 5000; i++) {
    const a = tf.add(v, 1);
    const b = tf.relu(a);
    const c = b.reshape([1024, 256]);
    if (variant === 'hand') {
      late.push([a, b, c]);
      if (late.length > 8) tf.dispose(late.shift());
    }
    if (i % 50 === 0) most = Math.max(most, process.memoryUsage.rss());
  }
  return { us: read(), mb: (most - before) / 2 ** 20 };
}

/** Attaches a notice to each of many objects that die at once. */
function notice() {
  const { native } = require('../dist/native.js');
  const addon = native();
  const slate = new Float64Array(addon.layout.size);
  class Thing {
    constructor(id) {
      this.id = id;
      this.shape = [id];
      this.dataId = { id };
    }
  }
  const COUNT = 20000;
  if (variant === 'bare') {
    return best(COUNT, () => {
      for (let i = 0; i < COUNT; i++) addon.bareFinalizer(new Thing(i));
    });
  }
  addon.open(
    () => {},
    slate,
    new Uint32Array(512),
    new Uint32Array(4096),
    new Uint32Array(addon.layout.signals),
  );
  addon.reclaim(true);
  const device = addon.device('bench', 0);
  const times = [];
  for (let batch = 0; batch < 40; batch++) {
    for (let i = 0; i < COUNT; i++) {
      slate[addon.layout.slot] = batch * COUNT + i;
      slate[addon.layout.key] = batch * COUNT + i + 1;
      slate[addon.layout.device] = device;
      slate[addon.layout.bytes] = 32;
      addon.book();
    }
    const read = stopwatch();
    for (let i = 0; i < COUNT; i++) {
      slate[addon.layout.slot] = batch * COUNT + i;
      addon.attach(new Thing(i));
    }
    times.push(read() / COUNT);
    while (addon.safePoint(device, 0) > 0);
  }
  return times.sort((a, b) => a - b)[10];
}

async function tidying() {
  const x = tf.tensor1d([1, 2, 3, 4, 5, 6, 7, 8]);
  if (variant === 'sync') {
    return best(5000, (rounds) => {
      for (let i = 0; i < rounds; i++) tf.tidy(() => tf.add(x, x)).dispose();
    });
  }
  const { tidy } = ebb();
  const times = [];
  for (let i = 0; i < 40; i++) {
    const read = stopwatch();
    for (let k = 0; k < 5000; k++) (await tidy(async () => tf.add(x, x))).dispose();
    times.push(read() / 5000);
  }
  return times.sort((a, b) => a - b)[10];
}

const WORKS = { smallAdd, train, careless, notice, tidying };

(async () => {
  tf.enableProdMode();
  await tf.setBackend(backend);
  const running = tf.backend().constructor.name;
  if (running !== { cpu: 'MathBackendCPU', wasm: 'BackendWasm' }[backend]) throw new Error(running);
  const result = await WORKS[work]();
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
})();
