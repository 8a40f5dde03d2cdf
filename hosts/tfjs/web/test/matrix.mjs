// Careless programs in a real browser, over backends, places, ways to wait and heaps: every value right, the books
// balanced, the GPU's memory within 1.5 x the budget (2 x in a loop that never yields), and that of its process too; where it
// has copies of its own, no more in later rounds than in the first.
//
// A page is ahead of its GPU, the more so the busier the machine: what the process has is compared between two programs of
// one page, each of which ends once the GPU has done all of its work.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { openPlace } from './browsers.mjs';
import { gpuProcess, residentBytes, whileWatched } from './processes.mjs';
import { openForTests } from './session.mjs';

const MB = 2 ** 20;
const BUDGET = 200 * MB;
/** Rounds of 8 MB: what it takes for the backend and its programs to be there, 320 MB, and 640 MB more. */
const START = 2;
const FIRST = 40;
const MORE = 80;
/** What the process may have of the 640 MB. */
const GROWN = 150 * MB;

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

function rangeOf(values) {
  const rounded = values.map((bytes) => Math.round(bytes / MB));
  return `${Math.min(...rounded)} to ${Math.max(...rounded)} MB`;
}

/** Peaks, and what collecting came to, of cells of one kind. */
function partOf(cells) {
  const sum = (value) => cells.reduce((total, cell) => total + value(cell.pressure), 0);
  const peaks = rangeOf(cells.map(({ peak }) => peak));
  const grown = rangeOf(cells.map(({ resident: { first, then } }) => Math.max(0, then - first)));
  const worked = `${sum(({ worked }) => worked)} of ${sum(({ asked }) => asked)} collections worked`;
  return `${peaks}, the GPU's process grew by ${grown} after the first rounds, ${worked}`;
}

/** Of the cells that yield, and of those that do not, where there are any. */
function summaryOf(seen) {
  const kinds = [true, false].map((yields) => seen.filter((cell) => cell.yields === yields));
  return kinds
    .filter((cells) => cells.length > 0)
    .map(
      (cells) =>
        `${cells.length} cells that ${cells[0].yields ? '' : 'never '}yield: ${partOf(cells)}`,
    )
    .join('; ');
}

/** Runs a cell's program: what it came to, and what the GPU's process had before, in the first rounds, and in later ones. */
async function measure({ browser, origin }, { where, ...program }) {
  const { page, run } = await openPlace(browser, origin, where);
  try {
    const careless = (rounds) => run('careless', { ...program, budget: BUDGET, rounds });
    await careless(START);
    const pid = gpuProcess(browser);
    const before = residentBytes(pid);
    const first = await whileWatched(pid, () => careless(FIRST));
    const then = await whileWatched(pid, () => careless(MORE));
    return {
      ...then.result,
      right: [first, then].every(({ result: { got, expected } }) => got === expected),
      peak: Math.max(first.result.peak, then.result.peak),
      reclaimed: then.result.reclaimed - first.result.reclaimed,
      yields: program.wait !== 'never',
      resident: { before, first: first.most, then: then.most },
    };
  } finally {
    await page.close();
  }
}

function check(seen) {
  const { right, balanced, reclaimed, peak, yields, resident } = seen;
  const holds = (held, what) => assert.ok(held, `${what}: ${JSON.stringify(seen)}`);
  holds(right, 'values are right');
  holds(balanced, 'the books balance');
  holds(reclaimed > MORE, 'it comes back');
  const allowed = (yields ? 1.5 : 2) * BUDGET;
  holds(peak <= allowed, `at most ${allowed} bytes`);
  const plateau = Math.max(resident.first + GROWN, resident.before + allowed);
  holds(resident.then <= plateau, `the GPU's process has at most ${plateau} bytes`);
}

export function testMatrix(name, launch, cells) {
  describe(name, () => {
    const opened = openForTests({ launch });
    const all = [];
    after(() => {
      if (all.length > 0) console.log(`note: ${name}: ${summaryOf(all)}`);
    });
    for (const each of cells) {
      const { backend, where, wait, heap } = each;
      test(`${backend} in a ${where}, ${wait}, beside a heap of ${heap} MB`, async () => {
        const seen = await measure(opened, each);
        all.push(seen);
        check(seen);
      });
    }
  });
}
