// One side of a pair: work.cjs <work> <variant> <backend>. Does a batch of the work for each message, and
// answers with what it took.
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');

const [work, variant, backend] = process.argv.slice(2);
const ebb = () => require(process.env.EBB_BENCH_PACKAGE ?? '../..');

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

async function timed(rounds, run) {
  const read = stopwatch();
  await run(rounds);
  return { us: read() / rounds };
}

/**
 * Variants: off (Ebb is not there), required (but never switched on), on, trace; sampled, full: on, and recorded; ended: recorded before;
 * turns-sampled, turns-full: on, and recorded now and then.
 */
function begin() {
  if (variant === 'off') return;
  ebb();
  if (variant === 'required') return;
  ebb().reclaim.on();
  if (variant === 'trace') ebb().trace.on();
  if (variant === 'sampled' || variant === 'full') record(variant);
  if (variant === 'ended') {
    record('sampled');
    ebb().recording.stop();
  }
}

function record(mode) {
  const path = join(tmpdir(), `ebb-bench-${process.pid}.ebbrec`);
  ebb().recording.start({ path, mode, max: '64MB' });
}

/** To a turn. */
const BATCHES = 4;

/** Batches of one process, recorded and not in turns: both are of the same compiled code. */
function inTurns(batch, mode) {
  let recordedFirst = false;
  const sum = async () => {
    let us = 0;
    for (let i = 0; i < BATCHES; i++) us += (await batch()).us / BATCHES;
    return { us };
  };
  const recorded = async () => {
    record(mode);
    await batch(); // while the recording gets going
    const result = await sum();
    ebb().recording.stop();
    return result;
  };
  return async () => {
    recordedFirst = !recordedFirst;
    if (recordedFirst) return { ours: await recorded(), peer: await sum() };
    const peer = await sum();
    return { ours: await recorded(), peer };
  };
}

const small = () => tf.tensor1d([1, 2, 3, 4, 5, 6, 7, 8]);

function smallAdd() {
  begin();
  const x = small();
  return () =>
    timed(4000, (rounds) => {
      for (let i = 0; i < rounds; i++) tf.add(x, x).dispose();
    });
}

function train() {
  begin();
  const model = tf.sequential();
  model.add(tf.layers.dense({ units: 128, inputShape: [784], activation: 'relu' }));
  model.add(tf.layers.dense({ units: 64, activation: 'relu' }));
  model.add(tf.layers.dense({ units: 10, activation: 'softmax' }));
  model.compile({ optimizer: 'adam', loss: 'categoricalCrossentropy' });
  const x = tf.randomNormal([32, 784]);
  const y = tf.oneHot(tf.randomUniform([32], 0, 10, 'int32'), 10);
  return () =>
    timed(backend === 'cpu' ? 1 : 5, async (rounds) => {
      for (let i = 0; i < rounds; i++) await model.trainOnBatch(x, y);
    });
}

/** {add, relu, reshape} of 1 MB: dropped under a budget, or disposed by hand 8 rounds late. */
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
  const round = () => {
    const a = tf.add(v, 1);
    const b = tf.relu(a);
    const c = b.reshape([1024, 256]);
    if (variant !== 'hand') return;
    late.push([a, b, c]);
    if (late.length > 8) tf.dispose(late.shift());
  };
  return async () => {
    const result = await timed(100, (rounds) => {
      for (let i = 0; i < rounds; i++) {
        round();
        if (i % 50 === 0) most = Math.max(most, process.memoryUsage.rss());
      }
    });
    return { ...result, mb: (most - before) / 2 ** 20 };
  };
}

class Thing {
  constructor(id) {
    this.id = id;
    this.shape = [id];
    this.dataId = { id };
  }
}

/** Attaches a notice to each of many objects that die at once. */
function notice() {
  const COUNT = 10000;
  const addon = require('../../build/ebb_node_bench.node');
  if (variant === 'bare') {
    return () =>
      timed(COUNT, () => {
        for (let i = 0; i < COUNT; i++) addon.bareFinalizer(new Thing(i));
      });
  }
  const { places } = addon;
  const slate = new Float64Array(places.slateSize);
  const signals = new Uint32Array(places.signalCount);
  addon.open(() => {}, slate, new Float64Array(512), new Uint32Array(4096), signals);
  addon.reclaim(true);
  const device = addon.device('bench', 0);
  let slot = 0;
  const book = () => {
    slate[places.slot] = slot;
    slate[places.key] = ++slot;
    slate[places.device] = device;
    slate[places.bytes] = 32;
    addon.book();
  };
  return async () => {
    const first = slot;
    for (let i = 0; i < COUNT; i++) book();
    const result = await timed(COUNT, () => {
      for (let i = 0; i < COUNT; i++) {
        slate[places.slot] = first + i;
        addon.attach(new Thing(i));
      }
    });
    while (addon.safePoint(device, 0) > 0);
    return result;
  };
}

function tidying() {
  const x = small();
  if (variant === 'sync') {
    return () =>
      timed(2000, (rounds) => {
        for (let i = 0; i < rounds; i++) tf.tidy(() => tf.add(x, x)).dispose();
      });
  }
  const { tidy } = ebb();
  return () =>
    timed(2000, async (rounds) => {
      for (let i = 0; i < rounds; i++) (await tidy(async () => tf.add(x, x))).dispose();
    });
}

const WORKS = { smallAdd, train, careless, notice, tidying };

async function main() {
  tf.enableProdMode();
  await tf.setBackend(backend);
  const running = tf.backend().constructor.name;
  if (running !== { cpu: 'MathBackendCPU', wasm: 'BackendWasm' }[backend]) throw new Error(running);
  const [, turns] = variant.match(/^turns-(.*)/) ?? [];
  const batch = turns === undefined ? WORKS[work]() : inTurns(WORKS[work](), turns);
  process.on('message', async () => process.send(await batch()));
}

main();
