// Two processes that do the same work in two ways, a short batch each, turn and turn about: what else the
// machine does hits both batches of a pair alike.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

class Worker {
  constructor(work, variant, backend) {
    this.child = fork(join(here, 'work.cjs'), [work, variant, backend], { stdio: 'inherit' });
    this.gone = once(this.child, 'exit').then(([code, signal]) => {
      throw new Error(`${work} ${variant} ${backend} ended (${signal ?? code})`);
    });
    this.gone.catch(() => {});
  }

  /** One batch: what the work says of it, `us` at least. */
  async batch() {
    this.child.send('batch');
    const [result] = await Promise.race([once(this.child, 'message'), this.gone]);
    return result;
  }

  end() {
    this.child.kill();
  }
}

export const median = (numbers) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** The batches of one pair of fresh processes, the first ones left out: V8 compiles during those. */
async function onePair({ work, ours, peer, backend, warmUp, batches }) {
  const workers = [new Worker(work, ours, backend), new Worker(work, peer, backend)];
  const results = [];
  try {
    for (let i = 0; i < warmUp + batches; i++) {
      const order = i % 2 === 0 ? [0, 1] : [1, 0];
      const pair = [];
      for (const which of order) pair[which] = await workers[which].batch();
      if (i >= warmUp) results.push({ ours: pair[0], peer: pair[1] });
    }
  } finally {
    for (const worker of workers) worker.end();
  }
  return results;
}

/** The batches of one process that takes turns itself. */
async function inTurns({ work, ours, backend, warmUp, batches }) {
  const worker = new Worker(work, `turns-${ours}`, backend);
  const results = [];
  try {
    for (let i = 0; i < warmUp + batches; i++) {
      const pair = await worker.batch();
      if (i >= warmUp) results.push(pair);
    }
  } finally {
    worker.end();
  }
  return results;
}

/**
 * `ratio`: the median of the pairs' ratios in each pair of processes, and the median of those, because V8 makes
 * different code of the same program from one process to the next.
 */
export async function compare(figure, processes) {
  const all = [];
  const ratios = [];
  for (let i = 0; i < processes; i++) {
    const results = await (figure.turns ? inTurns(figure) : onePair(figure));
    ratios.push(median(results.map(({ ours, peer }) => ours.us / peer.us)));
    all.push(...results);
  }
  return { ratio: median(ratios), ratios, results: all };
}
