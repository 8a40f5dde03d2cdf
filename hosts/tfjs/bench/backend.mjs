// The figures of backend `ebb`, against the real tfjs-node, wasm, and a backend whose kernels do nothing.
// Writes build/bench/node_backend.json; rows that are not measured this time stay as they are there.
//
//   node bench/backend.mjs [work ...]     all of them, or those named (`resNet1`, `network_resNet1`, `start`)
//   EBB_TFJS_NODE         a folder in whose node_modules tfjs-node is; without it wasm is the peer
//   EBB_ONNXRUNTIME       a folder in whose node_modules onnxruntime-node is; without it it is no peer
//   EBB_BENCH_PROCESSES   sets of processes for each figure (3)
//   EBB_BENCH_BEFORE      another build of this package, which the small operations are compared with
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, startUp, takeTurns } from './support/backend_turns.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..', '..');
const out = join(root, 'build', 'bench', 'node_backend.json');
const HAS_NODE = process.env.EBB_TFJS_NODE !== undefined;
const SETS = Number(process.env.EBB_BENCH_PROCESSES ?? 3);
const QUICK = { sets: SETS, batches: 25 };
const SLOW = { sets: SETS, batches: 12 };

/** Goals as shares of a peer's median. `wasm` is measured along wherever it has the kernels. */
const FIGURES = [
  ['add of 8 elements, disposed', 'smallAdd', { node: 0.2, wasm: 0.5 }, QUICK],
  ['matmul 32x32', 'matmul32', { node: 0.25 }, QUICK],
  ['matmul 1024x1024', 'matmul1024', { node: 0.95 }, SLOW],
  ['add 1M', 'add1M', { node: 0.5 }, QUICK],
  ['softmax 1024x1024', 'softmax', { node: 0.4 }, QUICK],
  ['sum 1M', 'sum1M', { node: 0.35 }, QUICK],
  ['conv2d 32x64x64x3, 16 filters 3x3', 'conv', { node: 0.35 }, QUICK],
  ['conv2d + bias + relu 8x56x56x64, 64 filters 3x3', 'fusedConv', { node: 0.7 }, SLOW],
  ['trainOnBatch 784-128-64-10, Adam, batch 32', 'train32', { node: 0.2 }, QUICK],
  ['trainOnBatch 784-128-64-10, Adam, batch 1024', 'train1024', { node: 0.4 }, SLOW],
  ['conv net of the MNIST example, train, batch 128', 'trainConv', { node: 0.6 }, SLOW],
  ['predict, batch 1, 40 dense layers of 128', 'predict40', { node: 0.15, null: 1.3 }, QUICK],
  ['tensor from Float32Array of 1M and back', 'roundTrip', { node: 0.7 }, QUICK],
  // Programs as people write them (programs.cjs).
  ['MobileNetV1, predict, batch 1', 'mobileNet1', { node: 0.6 }, SLOW],
  ['MobileNetV1, predict, batch 8', 'mobileNet8', { node: 0.6 }, SLOW],
  ['ResNet-18, predict, batch 1', 'resNet1', { node: 0.6 }, SLOW],
  ['ResNet-18, predict, batch 8', 'resNet8', { node: 0.6 }, SLOW],
  ['LSTM of 64, 32 steps, train, batch 32', 'lstm', { node: 0.6 }, SLOW],
  ['GRU of 64, 32 steps, train, batch 32', 'gru', { node: 0.6 }, SLOW],
  ["a transformer's encoder, 2 layers of 128, batch 8", 'transformer', { node: 0.6 }, SLOW],
  ['DCGAN for 28x28, one step of both, batch 16', 'dcgan', { node: 0.6 }, SLOW],
  ['DQN: act, and learn from 32', 'dqn', { node: 0.6 }, QUICK],
  ['the 10 nearest of 20,000 points of 128', 'nearest', { node: 0.6 }, QUICK],
  ['the 10 most alike of 20,000 points of 256, for 16', 'alike', { node: 0.6 }, QUICK],
  ['JPEG of 12 MP to a tensor of 224x224', 'jpeg', { node: 0.6 }, SLOW],
];
/** wasm has no gradients of convolutions, some not forward either, and reads no JPEGs. */
const NOT_ON_WASM = ['trainConv', 'dcgan', 'jpeg', 'lstm', 'gru', 'dqn'];

const round = (number) => Number(number.toPrecision(4));
const rows = existsSync(out) ? JSON.parse(readFileSync(out, 'utf8')) : [];

function add(figure, unit, ours, peerName, peer, goal, more = {}) {
  const ratio = round(ours / peer);
  const row = {
    figure: `${figure}, ebb / ${peerName} (${unit})`,
    ours: round(ours),
    peer: round(peer),
    ratio,
    goal,
    reached: ratio <= goal,
    ...more,
  };
  const old = rows.findIndex((one) => one.figure === row.figure);
  if (old < 0) rows.push(row);
  else rows[old] = row;
  const rest = Object.entries(more).map(([name, value]) => `, ${name} ${value}`);
  console.log(
    `${row.reached ? 'ok  ' : 'MISS'} ${row.figure}: ${row.ours} against ${row.peer}, ratio ${ratio} (goal ${goal})${rest.join('')}`,
  );
}

async function compare(figure, work, goals, effort) {
  const peers = Object.keys(goals).filter((peer) => peer !== 'node' || HAS_NODE);
  const along = NOT_ON_WASM.includes(work) || peers.includes('wasm') ? [] : ['wasm'];
  const results = await takeTurns(work, ['ebb', ...peers, ...along], effort);
  const best = { best: round(results.ebb.best) };
  const wasm = along.length === 0 ? {} : { wasm: round(results.wasm.us) };
  if (peers.length + along.length === 0) console.log(`     ${figure}: ${round(results.ebb.us)} us`);
  for (const peer of peers.length === 0 ? along : peers) {
    const theirs = { "peer's best": round(results[peer].best) };
    const more = { ...best, ...theirs, ...(peer === 'node' ? wasm : {}) };
    add(figure, 'us', results.ebb.us, peer, results[peer].us, goals[peer] ?? 1, more);
  }
}

/** What is recorded, against the same that is not: shares of a peer's median. */
const RECORDED = [
  ['predict, batch 1, 40 dense layers of 128', 'recordedPredict', { null: 0.3 }],
  ['trainOnBatch 784-128-64-10, Adam, batch 32', 'recordedTrain', { node: 0.03, ebb: 1 }],
  ['DQN 4-24-24-2: 10 predicts, one step of 32', 'recordedDqn', { ebb: 0.15 }],
  ['LSTM of 128, 40 steps of 64, train, batch 32', 'recordedLstm', { node: 0.08, ebb: 1 }],
];

async function recorded() {
  for (const [figure, work, goals] of RECORDED) {
    const peers = Object.keys(goals).filter((peer) => peer !== 'node' || HAS_NODE);
    const us = await takeTurns(work, ['recorded', ...peers], QUICK);
    for (const peer of peers) {
      add(
        `${figure}, recorded`,
        'us',
        us.recorded.us,
        peer === 'ebb' ? 'ebb as it is' : peer,
        us[peer].us,
        goals[peer],
      );
    }
  }
}

/** Networks that are recorded, against tfjs-node and onnxruntime-node with the same weights. */
const NETWORKS = [
  ['predict, batch 1, 40 dense layers of 128', 'dense40', { onnxruntime: 0.8 }, QUICK],
  ['MobileNetV1, predict, batch 1', 'mobileNet1', { node: 0.25, onnxruntime: 1.1 }, SLOW],
  ['MobileNetV1, predict, batch 8', 'mobileNet8', { node: 0.25, onnxruntime: 1.1 }, SLOW],
  ['ResNet-18, predict, batch 1', 'resNet1', { node: 0.6, onnxruntime: 1.1 }, SLOW],
  ['ResNet-18, predict, batch 8', 'resNet8', { node: 0.6, onnxruntime: 1.1 }, SLOW],
  ["a transformer's encoder, 4 of 256", 'encoder', { node: 0.3, onnxruntime: 1.1 }, QUICK],
];
const IS_THERE = { node: HAS_NODE, onnxruntime: process.env.EBB_ONNXRUNTIME !== undefined };

async function networks() {
  for (const [figure, work, goals, effort] of NETWORKS) {
    if (!isWanted('networks') && !isWanted(`network_${work}`)) continue;
    const peers = Object.keys(goals).filter((peer) => IS_THERE[peer]);
    const us = await takeTurns(`network_${work}`, ['recorded', 'ebb', ...peers], effort);
    add(`${figure}, recorded`, 'us', us.recorded.us, 'ebb as it is', us.ebb.us, 1);
    for (const peer of peers) {
      add(`${figure}, recorded`, 'us', us.recorded.us, peer, us[peer].us, goals[peer]);
    }
  }
}

/** `trainOnBatch` by the core's tape, against TensorFlow.js's own gradients and against another build. */
async function tape() {
  const peers = ['untaped', ...(process.env.EBB_BENCH_BEFORE === undefined ? [] : ['before'])];
  const us = await takeTurns('train32', ['ebb', ...peers], QUICK);
  for (const peer of peers) {
    add("trainOnBatch b32, the core's tape", 'us', us.ebb.us, peer, us[peer].us, 0.55);
  }
}

const SMALL = { add: 'smallAdd', relu: 'smallRelu', reshape: 'smallReshape' };

/** What an operation takes beyond TensorFlow.js itself, whose share the backend that does nothing shows. */
async function perOperation() {
  for (const [name, work] of Object.entries(SMALL)) {
    const { ebb, null: bare } = await takeTurns(work, ['ebb', 'null'], QUICK);
    const figure = `what Ebb adds to ${name} of 8 elements, disposed`;
    add(figure, 'us', ebb.us - bare.us, 'goal', 0.5, 1, {
      'in all': round(ebb.us),
      null: round(bare.us),
    });
  }
}

/** The same with reclaim on, and both beside another build. */
async function smallOperations() {
  const before = process.env.EBB_BENCH_BEFORE === undefined ? [] : ['before', 'before reclaiming'];
  for (const [name, work] of Object.entries(SMALL)) {
    const figure = `${name} of 8 elements, disposed`;
    const us = await takeTurns(work, ['ebb', 'reclaiming', ...before], QUICK);
    add(`${figure}, reclaim on`, 'us', us.reclaiming.us, 'reclaim off', us.ebb.us, 1.5);
    if (before.length === 0) continue;
    add(figure, 'us', us.ebb.us, 'before', us.before.us, 1);
    const then = us['before reclaiming'].us;
    add(`${figure}, reclaim on`, 'us', us.reclaiming.us, 'before', then, 0.85);
  }
}

async function start() {
  const peer = HAS_NODE ? 'node' : 'wasm';
  const taken = { ebb: [], [peer]: [], wasm: [] };
  for (let i = 0; i < 3 * SETS; i++) {
    for (const backend of Object.keys(taken)) taken[backend].push(await startUp(backend));
  }
  const of = (backend, what) => median(taken[backend].map((one) => one[what]));
  const goal = HAS_NODE ? 0.55 : 1.2;
  const mb = (backend) => round(of(backend, 'resident') / 2 ** 20);
  add('process start to first add', 'ms', of('ebb', 'ms'), peer, of(peer, 'ms'), goal, {
    wasm: round(of('wasm', 'ms')),
  });
  add('resident after the first add', 'MB', mb('ebb'), 'goal', 90, 1, {
    [peer]: mb(peer),
    wasm: mb('wasm'),
  });
}

/** 5,000 rounds of {add, relu, reshape} with nothing disposed, and with everything disposed after its round. */
async function careless() {
  const effort = { sets: SETS, batches: 50 };
  const { careless: ours, hand } = await takeTurns('careless', ['careless', 'hand'], effort);
  add('careless loop', 'us a round', ours.us, 'disposed by hand', hand.us, 1.05);
  const peak = Math.max(...ours.ends.map(({ peak }) => peak)) / 2 ** 20;
  const budget = ours.ends[0].budget / 2 ** 20;
  add('careless loop: peak resident above the start', 'MB', peak, 'budget', budget, 1.25);
}

const LIBRARIES = ['libhwy.so.1', 'libdnnl.so.3', 'libgomp.so.1'];

function libraries() {
  const places = [join(here, '..', 'build'), join(root, 'build', 'tools', 'onednn', 'lib')];
  const size = (name) => {
    const found = places.map((place) => join(place, name)).find(existsSync);
    if (found === undefined) throw new Error(`${name} is not built`);
    return statSync(found).size / 1e6;
  };
  const own = size('ebb_node.node');
  const all = LIBRARIES.reduce((sum, name) => sum + size(name), own);
  add("Ebb's own library", 'MB', own, 'goal', 10, 1);
  add('all native libraries', 'MB', all, 'goal', 60, 1);
}

/** A picture as a camera makes it, for the work that reads one. */
async function makeJpeg() {
  const file = join(root, 'build', 'bench', 'camera.jpg');
  if (existsSync(file)) return;
  const tf = createRequire(import.meta.url)('../dist/backend/index.js');
  const [height, width] = [3000, 4000];
  const values = Int32Array.from({ length: height * width * 3 }, (_, i) => {
    const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
    return 128 + 100 * Math.sin(x / (20 + (i % 3))) * Math.cos(y / 31) + ((x * 7 + y * 13) % 17);
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await tf.node.encodeJpeg(tf.tensor3d(values, [height, width, 3], 'int32')));
}

const wanted = process.argv.slice(2);
const isWanted = (work) => wanted.length === 0 || wanted.includes(work);
if (isWanted('jpeg')) await makeJpeg();
for (const [figure, work, goals, effort] of FIGURES) {
  if (isWanted(work)) await compare(figure, work, goals, effort);
}
for (const part of [
  recorded,
  networks,
  tape,
  perOperation,
  smallOperations,
  start,
  careless,
  libraries,
])
  if (isWanted(part.name) || part === networks) await part();
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, `${JSON.stringify(rows, null, 2)}\n`);
