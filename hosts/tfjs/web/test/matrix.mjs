// Careless programs in a real browser, over backends, places, ways to wait and heaps: every value right, the books
// balanced, the GPU's memory within 1.5 x the budget (2 x in a loop that never yields), and that of its process too; where it
// has copies of its own, no more in the second half of the rounds than in the first.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gpuProcess, whileWatched } from './processes.mjs';
import { openForTests } from './session.mjs';

const BUDGET_MB = 200;
const ROUNDS = 80; // 640 MB, three times the budget
/** Half of the rounds make 320 MB. */
const GROWN_MB = 150;

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
    const range = (values) => {
      const rounded = values.map((bytes) => Math.round(bytes / 2 ** 20));
      return `${Math.min(...rounded)} to ${Math.max(...rounded)} MB`;
    };
    const peaks = range(cells.map(({ peak }) => peak));
    const grown = range(cells.map(({ grown }) => grown));
    const worked = `${sum(({ worked }) => worked)} of ${sum(({ asked }) => asked)} collections worked`;
    return `${cells.length} cells that ${yields ? '' : 'never '}yield: ${peaks}, the GPU's process grew by ${grown} in the second half, ${worked}`;
  });
  return parts.join('; ');
}

export function testMatrix(name, launch, cells) {
  describe(name, () => {
    const opened = openForTests({ launch });
    const seen = [];
    after(() => {
      if (seen.length > 0) console.log(`note: ${name}: ${summaryOf(seen)}`);
    });
    for (const { backend, where, wait, heap } of cells) {
      test(`${backend} in a ${where}, ${wait}, beside a heap of ${heap} MB`, async () => {
        const budget = BUDGET_MB * 2 ** 20;
        const options = { backend, budget, rounds: ROUNDS, wait, heap };
        const { before, most, result } = await whileWatched(gpuProcess(opened.browser), () =>
          opened.run('careless', options, where),
        );
        const [first, then] = [most(0, result.halfAt), most(result.halfAt)];
        const grown = Math.max(0, then - first);
        seen.push({ ...result, grown, yields: wait !== 'never' });
        assert.equal(result.got, result.expected);
        assert.ok(result.balanced, 'the books balance');
        assert.ok(result.reclaimed > ROUNDS, `${result.reclaimed} reclaimed`);
        const allowed = (wait === 'never' ? 2 : 1.5) * budget;
        const figures = JSON.stringify({ ...result, peakMB: result.peak / 2 ** 20 });
        assert.ok(result.peak <= allowed, figures);
        const plateau = Math.max(first + GROWN_MB * 2 ** 20, before + allowed);
        assert.ok(then <= plateau, `the GPU's process: ${before}, ${first}, then ${then} bytes`);
      });
    }
  });
}
