// Figures of ebb-tfjs/web in Chromium, ratios in one run: node web/bench/run.mjs [backends [pauses,good,careless]]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchChromium, openPage, runIn, serve } from '../test/browsers.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', '..', '..', '..', 'build', 'bench');
const page = readFileSync(join(here, '..', 'test', 'page.html'), 'utf8');
const { server, origin } = await serve({
  '/bench.js': readFileSync(join(here, 'programs.js')),
  '/page.html': `${page}<script src="/bench.js"></script>`,
});
const browser = await launchChromium();
const run = (name, options) => runIn(browser, origin, 'page', name, options);

const MB = 2 ** 20;
const BUDGET = 200 * MB;
const TURNS = 21;
/** What a batch takes: a page is ahead of its GPU, and how far it may get differs from one short batch to the next. */
const BATCH_MS = 600;
const RUNS = 3;
/** A thousand tensors of 4 MB: two a round. */
const ROUNDS = 500;
const GOOD_CODE = [
  { name: 'add', figure: 'a small add, reclaim on / without Ebb', goal: 1.1 },
  { name: 'step', figure: 'a train step, reclaim on / without Ebb', goal: 1.03 },
];
/** 480 MB. */
const PAUSE_ROUNDS = 60;
const HEAPS = [
  { heap: 20, goal: 5 },
  { heap: 100, goal: 150 },
];

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const round = (number) => Number(number.toPrecision(4));
const rows = [];
function add(figure, unit, ours, peer, value, goal, ratio = ours / peer) {
  const row = { figure: `Chromium, ${figure}`, unit, ours: round(ours), peer: round(peer) };
  Object.assign(row, { ratio: round(ratio), goal, reached: value <= goal });
  rows.push(row);
  console.log(
    `${row.reached ? 'ok  ' : 'MISS'} ${row.figure}: ${row.ours} against ${row.peer} ${unit}, ratio ${row.ratio} (goal ${goal})`,
  );
}

async function careless(backend) {
  const common = { backend, rounds: ROUNDS, wait: 'data' };
  const byHand = await run('careless', { ...common, reclaim: false, disposing: true });
  const dropped = await run('careless', { ...common, budget: BUDGET });
  if (byHand.got !== byHand.expected || dropped.got !== dropped.expected)
    throw new Error('a wrong sum');
  const { peak, ms } = dropped;
  add(`${backend}: careless loop, peak`, 'MB', peak / MB, BUDGET / MB, peak / BUDGET, 1.25);
  add(`${backend}: careless loop / by hand`, 'ms', ms, byHand.ms, ms / byHand.ms, 1.15);
}

/** Calls that fill a batch, once what is called is compiled. */
async function callsOfBatch(run) {
  await run('batch', { calls: 5 });
  const { ms } = await run('batch', { calls: 5 });
  return Math.ceil((5 * BATCH_MS) / ms);
}

/** Two pages, with Ebb and without it, take turns. */
async function goodCode(backend, { name, figure, goal }) {
  const pages = [await openPage(browser, origin), await openPage(browser, origin)];
  const [on, off] = pages;
  await on.run('prepare', { backend, name });
  await off.run('prepare', { backend, name, ebb: false });
  const calls = await callsOfBatch(off.run);
  const times = pages.map(() => []);
  for (let turn = -2; turn < TURNS; turn++) {
    const order = turn % 2 === 0 ? [0, 1] : [1, 0];
    for (const which of order) {
      await pages[which].page.bringToFront();
      const { ms } = await pages[which].run('batch', { calls });
      if (turn >= 0) times[which].push((1000 * ms) / calls);
    }
  }
  const ratios = times[0].map((us, i) => us / times[1][i]);
  const ratio = median(ratios);
  add(`${backend}: ${figure}`, 'us', median(times[0]), median(times[1]), ratio, goal, ratio);
  console.log(`     pairs: ${round(Math.min(...ratios))} to ${round(Math.max(...ratios))}`);
  for (const { page } of pages) await page.close();
}

/** Of three runs the middle one: what Ebb makes a careless program wait, and what a page without it waits for V8. */
async function pauses(backend, { heap, goal }) {
  const ours = [];
  const bare = [];
  const loop = { backend, heap, budget: BUDGET, rounds: PAUSE_ROUNDS, wait: 'timeout', turns: 9 };
  for (let i = 0; i < RUNS; i++) {
    ours.push(await run('pauses', loop));
    bare.push(await run('barePauses', { heap, turns: 9 }));
  }
  const { asked, worked, pushes } = ours[0].pressure;
  console.log(`     beside ${heap} MB: ${worked} of ${asked} collections worked, ${pushes} pushes`);
  const longest = (runs, name) => median(runs.map((one) => Math.max(...[one[name]].flat())));
  const usual = (runs, name) => median(runs.map((one) => median(one[name])));
  const row = (figure, mine, browsers, limit) =>
    add(`${backend}: ${figure} beside ${heap} MB`, 'ms', mine, browsers, mine, limit);
  row(
    'longest pause of a careless loop / longest bare full collection',
    longest(ours, 'longest'),
    longest(bare, 'full'),
    goal,
  );
  row(
    'a collection asked for / a bare full one',
    usual(ours, 'asked'),
    usual(bare, 'full'),
    Infinity,
  );
  const young = usual(bare, 'young');
  console.log(`     a bare collection of young objects: ${round(young)} ms`);
}

const backends = process.argv[2]?.split(',') ?? ['webgpu', 'webgl'];
const parts = process.argv[3]?.split(',') ?? ['pauses', 'good', 'careless'];
for (const backend of backends) {
  if (parts.includes('pauses')) for (const heap of HEAPS) await pauses(backend, heap);
  if (parts.includes('good')) for (const one of GOOD_CODE) await goodCode(backend, one);
  if (parts.includes('careless')) await careless(backend);
}
await browser.close();
server.close();
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'web.json'), `${JSON.stringify(rows, null, 2)}\n`);
