// Every figure that reclaim in Node has to reach, in interleaved pairs; build/bench/node_reclaim.json.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', '..', '..', 'build', 'bench');
const PAIRS = Number(process.env.EBB_BENCH_PAIRS ?? 5);

const FIGURES = [
  {
    figure: 'small add, wasm, reclaim on / off',
    work: 'smallAdd',
    ours: 'on',
    peer: 'off',
    on: 'wasm',
    goal: 1.15,
    unit: 'us',
  },
  {
    figure: 'small add, cpu, reclaim on / off',
    work: 'smallAdd',
    ours: 'on',
    peer: 'off',
    on: 'cpu',
    goal: 1.3,
    unit: 'us',
  },
  {
    figure: 'trainOnBatch, wasm, reclaim on / off',
    work: 'train',
    ours: 'on',
    peer: 'off',
    on: 'wasm',
    goal: 1.05,
    unit: 'us',
  },
  {
    figure: 'trainOnBatch, cpu, reclaim on / off',
    work: 'train',
    ours: 'on',
    peer: 'off',
    on: 'cpu',
    goal: 1.05,
    unit: 'us',
  },
  {
    figure: 'weak notice / bare napi_add_finalizer',
    work: 'notice',
    ours: 'ours',
    peer: 'bare',
    on: 'cpu',
    goal: 1.3,
    unit: 'us',
  },
  {
    figure: 'async tidy / sync tidy of one add, wasm',
    work: 'tidying',
    ours: 'async',
    peer: 'sync',
    on: 'wasm',
    goal: 2,
    unit: 'us',
  },
  {
    figure: 'async tidy / sync tidy of one add, cpu',
    work: 'tidying',
    ours: 'async',
    peer: 'sync',
    on: 'cpu',
    goal: 2,
    unit: 'us',
  },
  {
    figure: 'small add traced / untraced, wasm',
    work: 'smallAdd',
    ours: 'trace',
    peer: 'on',
    on: 'wasm',
    goal: 2,
    unit: 'us',
  },
  {
    figure: 'small add traced / untraced, cpu',
    work: 'smallAdd',
    ours: 'trace',
    peer: 'on',
    on: 'cpu',
    goal: 2,
    unit: 'us',
  },
  {
    figure: 'careless loop / disposed by hand, wasm',
    work: 'careless',
    ours: 'on',
    peer: 'hand',
    on: 'wasm',
    goal: 1.25,
    unit: 'us',
  },
];

function measure(work, variant, backend) {
  const text = execFileSync(process.execPath, [join(here, 'work.cjs'), work, variant, backend], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(text);
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const round = (number) => Number(number.toPrecision(4));
const time = (result) => (typeof result === 'number' ? result : result.us);

function pairs({ work, ours, peer, on }) {
  const results = [];
  for (let i = 0; i < PAIRS; i++) {
    // Turn and turn about, so that a drift of the machine hits both.
    const first = i % 2 === 0;
    const a = measure(work, first ? ours : peer, on);
    const b = measure(work, first ? peer : ours, on);
    results.push(first ? { ours: a, peer: b } : { ours: b, peer: a });
  }
  return results;
}

const rows = [];
function add(row) {
  rows.push(row);
  const { figure, ours, peer, ratio, goal, reached, unit } = row;
  const against = peer === null ? '' : ` against ${peer} ${unit}, ratio ${ratio}`;
  console.log(`${reached ? 'ok  ' : 'MISS'} ${figure}: ${ours} ${unit}${against} (goal ${goal})`);
}

const wanted = process.argv[2];
for (const one of FIGURES) {
  if (wanted !== undefined && !one.figure.includes(wanted)) continue;
  const results = pairs(one);
  const ratio = round(median(results.map(({ ours, peer }) => time(ours) / time(peer))));
  add({
    figure: one.figure,
    unit: one.unit,
    ours: round(median(results.map(({ ours }) => time(ours)))),
    peer: round(median(results.map(({ peer }) => time(peer)))),
    ratio,
    goal: one.goal,
    reached: ratio <= one.goal,
  });
  if (one.work === 'careless') {
    const mb = round(median(results.map(({ ours }) => ours.mb)));
    const peer = round(median(results.map(({ peer }) => peer.mb)));
    add({
      figure: 'careless loop: resident above the start',
      unit: 'MB',
      ours: mb,
      peer,
      ratio: round(mb / peer),
      goal: 100,
      reached: mb <= 100,
    });
  }
}
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'node_reclaim.json'), `${JSON.stringify(rows, null, 2)}\n`);
