// The figures of backend `ebb`: against wasm, a backend that does nothing, and the real tfjs-node where there
// is one (EBB_TFJS_NODE names a folder in whose node_modules it is). Turn and turn about, ratios of medians.
// Writes build/bench/node_backend.json.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', '..', '..', 'build', 'bench');
const ROUNDS = Number(process.env.EBB_BENCH_PAIRS ?? 3);
const HAS_NODE = process.env.EBB_TFJS_NODE !== undefined;

/** Goals as shares of a peer's median. */
const FIGURES = [
  ['add of 8 elements, disposed', 'smallAdd', { node: 0.2, wasm: 0.5 }],
  ['matmul 32x32', 'matmul32', { node: 0.25 }],
  ['matmul 1024x1024', 'matmul1024', { node: 0.95 }],
  ['add 1M', 'add1M', { node: 0.5 }],
  ['softmax 1024x1024', 'softmax', { node: 0.4 }],
  ['sum 1M', 'sum1M', { node: 0.35 }],
  ['conv2d 32x64x64x3, 16 filters 3x3', 'conv', { node: 0.35 }],
  ['conv2d + bias + relu 8x56x56x64, 64 filters 3x3', 'fusedConv', { node: 0.7 }],
  ['trainOnBatch 784-128-64-10, Adam, batch 32', 'train32', { node: 0.2 }],
  ['trainOnBatch 784-128-64-10, Adam, batch 1024', 'train1024', { node: 0.4 }],
  ['conv net of the MNIST example, train, batch 128', 'trainConv', { node: 0.6 }],
  ['predict, batch 1, 40 dense layers of 128', 'predict40', { node: 0.15, null: 1.3 }],
  ['tensor from Float32Array of 1M, add, and back', 'roundTrip', { node: 0.7 }],
];

function measure(work, backend) {
  const started = performance.now();
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(here, 'backend_work.cjs'), work, backend],
    { encoding: 'utf8' },
  );
  const ms = performance.now() - started;
  if (status !== 0) throw new Error(`${work} on ${backend}: ${stderr}`);
  return { ...JSON.parse(stdout.trim().split('\n').at(-1)), ms };
}

const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
const round = (number) => Number(number.toPrecision(4));

const rows = [];
function add(figure, unit, ours, peerName, peer, goal) {
  const ratio = round(ours / peer);
  const row = {
    figure: `${figure}, ebb / ${peerName}`,
    unit,
    ours: round(ours),
    peer: round(peer),
    ratio,
    goal,
  };
  rows.push({ ...row, reached: ratio <= goal });
  console.log(
    `${ratio <= goal ? 'ok  ' : 'MISS'} ${row.figure}: ${row.ours} ${unit} against ${row.peer}, ratio ${ratio} (goal ${goal})`,
  );
}

function sample(work, backends) {
  const results = Object.fromEntries(backends.map((backend) => [backend, []]));
  for (let i = 0; i < ROUNDS; i++) {
    const order = i % 2 === 0 ? backends : [...backends].reverse();
    for (const backend of order) results[backend].push(measure(work, backend));
  }
  return results;
}

const wanted = process.argv[2];
for (const [figure, work, goals] of FIGURES) {
  if (wanted !== undefined && !figure.includes(wanted) && wanted !== work) continue;
  const peers = Object.keys(goals).filter((peer) => peer !== 'node' || HAS_NODE);
  if (peers.length === 0) peers.push('wasm');
  const results = sample(work, ['ebb', ...peers]);
  const ours = median(results.ebb.map((result) => result.median));
  for (const peer of peers) {
    const theirs = median(results[peer].map((result) => result.median));
    add(figure, 'us', ours, peer, theirs, goals[peer] ?? 1);
  }
}

if (wanted === undefined || wanted === 'start') {
  const peer = HAS_NODE ? 'node' : 'wasm';
  const results = sample('start', ['ebb', peer]);
  const ms = (backend) => median(results[backend].map((result) => result.ms));
  add('process start to first add', 'ms', ms('ebb'), peer, ms(peer), HAS_NODE ? 0.55 : 1.2);
  const resident = median(results.ebb.map(({ rss }) => rss)) / 1e6;
  add('resident after the first add', 'MB', resident, 'goal', 90, 1);
}

if (wanted === undefined || wanted === 'libraries') {
  const places = [
    join(here, '..', 'build'),
    join(here, '..', '..', '..', 'build', 'tools', 'onednn', 'lib'),
  ];
  const size = (name) => {
    const found = places.map((place) => join(place, name)).find(existsSync);
    if (found === undefined) throw new Error(`${name} is not built`);
    return statSync(found).size / 1e6;
  };
  const own = size('ebb_node.node');
  add("Ebb's own library", 'MB', own, 'goal', 10, 1);
  add(
    'all native libraries',
    'MB',
    own + size('libdnnl.so.3') + size('libgomp.so.1'),
    'goal',
    60,
    1,
  );
}
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'node_backend.json'), `${JSON.stringify(rows, null, 2)}\n`);
