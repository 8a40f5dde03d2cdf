// Every figure that reclaim in Node has to reach; build/bench/node_reclaim.json.
//
//   node bench/run.mjs [part of a figure's name]
//   EBB_BENCH_PROCESSES  pairs of processes for each figure (5)
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildTarget } from '../scripts/cmake.mjs';
import { compare, median } from './support/pairs.mjs';

const out = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'build', 'bench');
const PROCESSES = Number(process.env.EBB_BENCH_PROCESSES ?? 5);

const SHORT = { warmUp: 20, batches: 60 };
const ADD = { work: 'smallAdd', ours: 'on', peer: 'off', ...SHORT };
const TRAIN = { work: 'train', ours: 'on', peer: 'off' };
const TRACED = { work: 'smallAdd', ours: 'trace', peer: 'on', ...SHORT };
const TIDY = { work: 'tidying', ours: 'async', peer: 'sync', ...SHORT };
/** "Nothing that can be measured": what two runs of the same program differ by here. */
const NOTHING = 1.03;

const FIGURES = [
  { figure: 'small add, wasm, reclaim on / off', ...ADD, backend: 'wasm', goal: 1.15 },
  { figure: 'small add, cpu, reclaim on / off', ...ADD, backend: 'cpu', goal: 1.3 },
  {
    figure: 'small add, cpu, ebb-tfjs required, never on / not there',
    ...ADD,
    ours: 'required',
    backend: 'cpu',
    goal: NOTHING,
  },
  {
    figure: 'trainOnBatch, wasm, reclaim on / off',
    ...TRAIN,
    backend: 'wasm',
    warmUp: 60,
    batches: 40,
    goal: 1.05,
  },
  {
    figure: 'trainOnBatch, cpu, reclaim on / off',
    ...TRAIN,
    backend: 'cpu',
    warmUp: 5,
    batches: 15,
    goal: 1.05,
  },
  {
    figure: 'weak notice / bare napi_add_finalizer',
    work: 'notice',
    ours: 'ours',
    peer: 'bare',
    ...SHORT,
    backend: 'cpu',
    goal: 1.3,
  },
  { figure: 'async tidy / sync tidy of one add, wasm', ...TIDY, backend: 'wasm', goal: 2 },
  { figure: 'async tidy / sync tidy of one add, cpu', ...TIDY, backend: 'cpu', goal: 2 },
  { figure: 'small add traced / untraced, wasm', ...TRACED, backend: 'wasm', goal: 2 },
  { figure: 'small add traced / untraced, cpu', ...TRACED, backend: 'cpu', goal: 2 },
  {
    // 5,000 rounds in all.
    figure: 'careless loop / disposed by hand, wasm',
    work: 'careless',
    ours: 'on',
    peer: 'hand',
    backend: 'wasm',
    warmUp: 5,
    batches: 45,
    goal: 1.25,
  },
];

const round = (number) => Number(number.toPrecision(4));

const rows = [];
function add(row) {
  rows.push(row);
  const { figure, ours, peer, ratio, goal, reached, unit, spread = '' } = row;
  const verdict = reached ? 'ok  ' : 'MISS';
  console.log(
    `${verdict} ${figure}: ${ours} against ${peer} ${unit}, ratio ${ratio}${spread} (goal ${goal})`,
  );
}

async function measure(one) {
  const { ratio, ratios, results } = await compare(one, PROCESSES);
  const middle = (side, field) => round(median(results.map((result) => result[side][field])));
  add({
    figure: one.figure,
    unit: 'us',
    ours: middle('ours', 'us'),
    peer: middle('peer', 'us'),
    ratio: round(ratio),
    goal: one.goal,
    reached: ratio <= one.goal,
    spread: `, ${ratios.map(round).join(' ')}`,
  });
  if (one.work === 'careless') {
    const ours = round(Math.max(...results.map((result) => result.ours.mb)));
    const peer = round(Math.max(...results.map((result) => result.peer.mb)));
    const figure = 'careless loop: resident above the start, at most';
    add({
      figure,
      unit: 'MB',
      ours,
      peer,
      ratio: round(ours / peer),
      goal: 100,
      reached: ours <= 100,
    });
  }
}

const [wanted = ''] = process.argv.slice(2);
const figures = FIGURES.filter(({ figure }) => figure.includes(wanted));
if (figures.some(({ work }) => work === 'notice')) buildTarget('ebb_node_bench');
for (const one of figures) {
  await measure(one);
}
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'node_reclaim.json'), `${JSON.stringify(rows, null, 2)}\n`);
