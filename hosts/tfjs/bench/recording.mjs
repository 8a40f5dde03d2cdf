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

const ADD = { work: 'smallAdd', peer: 'on', warmUp: 20, batches: 60 };
const TRAIN = { work: 'train', peer: 'on', backend: 'wasm', warmUp: 60, batches: 40 };

const FIGURES = [
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

/** The holder of one tensor in a heap of 200 MB: records of some 700 bytes, in five objects each. */
const WHY = `
const tf = require('@tensorflow/tfjs');
const ebb = require(process.argv[1]);
ebb.reclaim.on();
globalThis.things = [];
while (process.memoryUsage().heapUsed < 200 * 2 ** 20)
  for (let i = 0; i < 10000; i++)
    things.push({ i, text: 'thing ' + i, body: Buffer.alloc(500, String(i)).toString('latin1'), list: [i, { i }] });
globalThis.cache = new Map([['features', [tf.scalar(1)]]]);
ebb.collect();
const start = performance.now();
ebb.why(cache.get('features')[0]).then(({ heldBy }) =>
  console.log(JSON.stringify({ seconds: (performance.now() - start) / 1000, heldBy })));`;

function why() {
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', WHY, join(here, '..')], {
    encoding: 'utf8',
    cwd: here,
  });
  const line = stdout.trim().split('\n').at(-1);
  if (!line.startsWith('{')) throw new Error(stderr);
  const { seconds, heldBy } = JSON.parse(line);
  if (heldBy !== 'global.cache (Map) -> .get("features") (Array) -> [0]') throw new Error(heldBy);
  add({
    figure: 'why(tensor), a heap of 200 MB',
    unit: 's',
    ours: round(seconds),
    goal: 10,
    reached: seconds <= 10,
  });
}

const [wanted = ''] = process.argv.slice(2);
for (const one of FIGURES.filter(({ figure }) => figure.includes(wanted))) await measure(one);
if ('why'.includes(wanted)) why();
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'node_recording.json'), `${JSON.stringify(rows, null, 2)}\n`);
