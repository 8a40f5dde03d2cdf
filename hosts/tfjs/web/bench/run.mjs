// Figures of ebb-tfjs/web in Chromium, ratios in one run: npm run bench:web [backends]
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
const TURNS = 15;
const RUNS = 3;
/** A thousand tensors of 4 MB: two a round. */
const ROUNDS = 500;
const GOOD_CODE = [
  { name: 'add', figure: 'a small add, reclaim on / without Ebb', calls: 400, goal: 1.1 },
  { name: 'step', figure: 'a train step, reclaim on / without Ebb', calls: 5, goal: 1.03 },
];
const HEAPS = [
  { heap: 20, goal: 5 },
  { heap: 100, goal: 150 },
];

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const round = (number) => Number(number.toPrecision(4));
const rows = [];
function add(figure, unit, ours, peer, value, goal) {
  const row = { figure: `Chromium, ${figure}`, unit, ours: round(ours), peer: round(peer) };
  Object.assign(row, { ratio: round(ours / peer), goal, reached: value <= goal });
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

/** Two pages, with Ebb and without it, take turns. */
async function goodCode(backend, { name, figure, calls, goal }) {
  const pages = [await openPage(browser, origin), await openPage(browser, origin)];
  const [on, off] = pages;
  await on.run('prepare', { backend, name });
  await off.run('prepare', { backend, name, ebb: false });
  const times = pages.map(() => []);
  for (let turn = -2; turn < TURNS; turn++) {
    const order = turn % 2 === 0 ? [0, 1] : [1, 0];
    for (const which of order) {
      await pages[which].page.bringToFront();
      const { ms } = await pages[which].run('batch', { calls });
      if (turn >= 0) times[which].push((1000 * ms) / calls);
    }
  }
  const ratio = median(times[0].map((us, i) => us / times[1][i]));
  add(`${backend}: ${figure}`, 'us', median(times[0]), median(times[1]), ratio, goal);
  for (const { page } of pages) await page.close();
}

/** The longest of nine, in the middle of some runs: ours, and the browser's own part. */
async function pauses(backend, { heap, goal }) {
  const runs = [];
  for (let i = 0; i < RUNS; i++) runs.push(await run('pauses', { backend, heap, turns: 9 }));
  const longest = (name) => median(runs.map((one) => Math.max(...one[name])));
  const usual = (name) => median(runs.map((one) => median(one[name])));
  const [ours, peer] = [longest('ours'), longest('browsers')];
  add(
    `${backend}: longest pause beside ${heap} MB / the browser's own`,
    'ms',
    ours,
    peer,
    ours,
    goal,
  );
  add(
    `${backend}: usual pause beside ${heap} MB / the browser's own`,
    'ms',
    usual('ours'),
    usual('browsers'),
    usual('ours'),
    goal,
  );
}

const backends = process.argv[2]?.split(',') ?? ['webgpu', 'webgl'];
for (const backend of backends) {
  for (const heap of HEAPS) await pauses(backend, heap);
  for (const one of GOOD_CODE) await goodCode(backend, one);
  await careless(backend);
}
await browser.close();
server.close();
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'web.json'), `${JSON.stringify(rows, null, 2)}\n`);
