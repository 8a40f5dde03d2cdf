// What recording costs, and how long the way to a holder takes; build/bench/node_recording.json.
//
//   node bench/recording.mjs [part of a figure's name]
//   EBB_BENCH_PROCESSES  pairs of processes for each figure (5)
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, median } from './support/pairs.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', '..', '..', 'build', 'bench');
const PROCESSES = Number(process.env.EBB_BENCH_PROCESSES ?? 5);

/** Hundredths are less than what two processes differ by that do the same: a process takes turns. */
const ADD = { work: 'smallAdd', turns: true, warmUp: 8, batches: 25 };
const TRAIN = { work: 'train', turns: true, backend: 'wasm', warmUp: 12, batches: 30 };

const FIGURES = [
  {
    figure: 'small add, wasm, recording off: after one / before any',
    work: 'smallAdd',
    backend: 'wasm',
    ours: 'ended',
    peer: 'on',
    warmUp: 20,
    batches: 60,
    goal: 1.02,
  },
  ...['wasm', 'cpu'].flatMap((backend) => [
    {
      figure: `small add, ${backend}, sampled / not recorded`,
      ...ADD,
      backend,
      ours: 'sampled',
      goal: 1.05,
    },
    {
      figure: `small add, ${backend}, full / not recorded`,
      ...ADD,
      backend,
      ours: 'full',
      goal: 2,
    },
  ]),
  {
    figure: 'trainOnBatch b32, wasm, sampled / not recorded',
    ...TRAIN,
    ours: 'sampled',
    goal: 1.01,
  },
  { figure: 'trainOnBatch b32, wasm, full / not recorded', ...TRAIN, ours: 'full', goal: 1.1 },
];

const round = (number) => Number(number.toPrecision(4));
const rows = [];
function add(row) {
  rows.push(row);
  const { figure, ours, peer, unit, ratio, goal, reached, spread = '' } = row;
  const against = peer === undefined ? '' : ` against ${peer}`;
  const asRatio = ratio === undefined ? '' : `, ratio ${ratio}${spread}`;
  console.log(
    `${reached ? 'ok  ' : 'MISS'} ${figure}: ${ours}${against} ${unit}${asRatio} (goal ${goal})`,
  );
}

async function measure(one) {
  const { ratio, ratios, results } = await compare(one, PROCESSES);
  const middle = (side) => round(median(results.map((result) => result[side].us)));
  add({
    figure: one.figure,
    unit: 'us',
    ours: middle('ours'),
    peer: middle('peer'),
    ratio: round(ratio),
    goal: one.goal,
    reached: ratio <= one.goal,
    spread: `, ${ratios.map(round).join(' ')}`,
  });
}

/** What fills a heap of 200 MB: records of some 700 bytes in five objects each, or millions of small objects. */
const HEAPS = {
  'records of 700 bytes':
    "({ i, text: 'thing ' + i, body: Buffer.alloc(500, String(i)).toString('latin1'), list: [i, { i }] })",
  'small objects': '({ i })',
};

/** The holder of one tensor; or what V8 alone takes for the snapshot of the same heap, its first. */
const WHY = `
const tf = require('@tensorflow/tfjs');
const ebb = require(process.argv[1]);
ebb.reclaim.on();
globalThis.things = [];
while (process.memoryUsage().heapUsed < 200 * 2 ** 20)
  for (let i = 0; i < 10000; i++) things.push(THING);
globalThis.cache = new Map([['features', [tf.scalar(1)]]]);
ebb.collect();
const file = require('path').join(require('os').tmpdir(), 'ebb-bench-' + process.pid + '.heapsnapshot');
const works = {
  why: async () => (await ebb.why(cache.get('features')[0])).heldBy,
  write: () => require('v8').writeHeapSnapshot(file),
};
(async () => {
  const start = performance.now();
  const result = await works[process.argv[2]]();
  const seconds = (performance.now() - start) / 1000;
  require('fs').rmSync(file, { force: true });
  console.log(JSON.stringify({ seconds, result, things: things.length }));
})();`;

function timeInHeap(things, work) {
  const program = WHY.replace('THING', HEAPS[things]);
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, join(here, '..'), work], {
    encoding: 'utf8',
    cwd: here,
  });
  const line = stdout.trim().split('\n').at(-1);
  if (!line.startsWith('{')) throw new Error(stderr);
  return JSON.parse(line);
}

function why(things) {
  const { seconds, result } = timeInHeap(things, 'why');
  if (result !== 'global.cache (Map) -> .get("features") (Array) -> [0]') throw new Error(result);
  const peer = timeInHeap(things, 'write').seconds;
  add({
    figure: `why(tensor), a heap of 200 MB of ${things}; to V8 writing a snapshot`,
    unit: 's',
    ours: round(seconds),
    peer: round(peer),
    ratio: round(seconds / peer),
    goal: 10,
    reached: seconds <= 10,
  });
}

const [wanted = ''] = process.argv.slice(2);
for (const one of FIGURES.filter(({ figure }) => figure.includes(wanted))) await measure(one);
for (const things of Object.keys(HEAPS)) if (`why ${things}`.includes(wanted)) why(things);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'node_recording.json'), `${JSON.stringify(rows, null, 2)}\n`);
