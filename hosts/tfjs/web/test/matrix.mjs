// Careless programs in a real browser, over backends, places, ways to wait and heaps: every value right, the books
// balanced, the GPU's memory within 1.5 x the budget (2 x in a loop that never yields).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runIn, serve } from './browsers.mjs';

const BUDGET_MB = 200;
const ROUNDS = 80; // 640 MB, three times the budget

export const WAITS = ['raf', 'timeout', 'data', 'never'];

/** Every cell for these backends. */
export function allCells(...backends) {
  return backends.flatMap((backend) =>
    ['page', 'worker'].flatMap((where) =>
      WAITS.flatMap((wait) => [0, 100].map((heap) => cell(backend, where, wait, heap))),
    ),
  );
}

export function cell(backend, where, wait, heap) {
  return { backend, where, wait, heap };
}

/** Peaks, and what collecting came to, of the cells that yield and of those that do not. */
function summaryOf(seen) {
  const parts = [true, false].map((yields) => {
    const cells = seen.filter((cell) => cell.yields === yields);
    const sum = (value) => cells.reduce((total, cell) => total + value(cell.pressure), 0);
    const peaks = cells.map(({ peak }) => Math.round(peak / 2 ** 20));
    const range = `${Math.min(...peaks)} to ${Math.max(...peaks)} MB`;
    const worked = `${sum(({ worked }) => worked)} of ${sum(({ asked }) => asked)} collections worked`;
    return `${cells.length} cells that ${yields ? '' : 'never '}yield: ${range}, ${worked}`;
  });
  return parts.join('; ');
}

export function testMatrix(name, launch, cells) {
  describe(name, () => {
    let browser, server, origin;
    const seen = [];
    before(async () => {
      ({ server, origin } = await serve());
      browser = await launch();
    });
    after(async () => {
      await browser?.close();
      server?.close();
      if (seen.length > 0) console.log(`note: ${name}: ${summaryOf(seen)}`);
    });
    for (const { backend, where, wait, heap } of cells) {
      test(`${backend} in a ${where}, ${wait}, beside a heap of ${heap} MB`, async () => {
        const budget = BUDGET_MB * 2 ** 20;
        const result = await runIn(browser, origin, where, 'careless', {
          backend,
          budget,
          rounds: ROUNDS,
          wait,
          heap,
        });
        seen.push({ ...result, yields: wait !== 'never' });
        assert.equal(result.got, result.expected);
        assert.ok(result.balanced, 'the books balance');
        assert.ok(result.reclaimed > ROUNDS, `${result.reclaimed} reclaimed`);
        const most = (wait === 'never' ? 2 : 1.5) * budget;
        const figures = JSON.stringify({ ...result, peakMB: result.peak / 2 ** 20 });
        assert.ok(result.peak <= most, figures);
      });
    }
  });
}
