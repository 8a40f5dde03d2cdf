// The same work on several backends, a process each; a short batch of each in turn, so that whatever else the
// machine does hits all of them alike.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORK = join(dirname(fileURLToPath(import.meta.url)), '..', 'backend_work.cjs');

export const median = (numbers) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

class Subject {
  constructor(work, backend) {
    this.child = fork(WORK, [work, backend], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let complaint = '';
    this.child.stderr.on('data', (text) => (complaint += text));
    this.gone = once(this.child, 'exit').then(([code, signal]) => {
      throw new Error(`${work} on ${backend} ended (${signal ?? code}): ${complaint}`);
    });
    this.gone.catch(() => {});
  }

  async ask(what) {
    this.child.send(what);
    const [answer] = await Promise.race([once(this.child, 'message'), this.gone]);
    return answer;
  }

  end() {
    this.child.kill();
  }
}

/** One set of fresh processes: for each backend the batches' times in us, and what it says at the end. */
async function oneSet(work, backends, batches) {
  const subjects = backends.map((backend) => new Subject(work, backend));
  const times = backends.map(() => []);
  const ends = [];
  try {
    for (const subject of subjects) await subject.ask('warm up');
    for (let i = 0; i < batches; i++) {
      for (let k = 0; k < subjects.length; k++) {
        const which = i % 2 === 0 ? k : subjects.length - 1 - k;
        times[which].push((await subjects[which].ask('batch')).us);
      }
    }
    for (const subject of subjects) ends.push(await subject.ask('end'));
  } finally {
    for (const subject of subjects) subject.end();
  }
  return backends.map((_, k) => ({ us: times[k], end: ends[k] }));
}

/**
 * By backend: `us`, the median over the sets of each set's median, because V8 makes different code of the same
 * program from one process to the next; `best`, and what the processes said at the end.
 */
export async function takeTurns(work, backends, { sets, batches }) {
  const all = [];
  for (let i = 0; i < sets; i++) all.push(await oneSet(work, backends, batches));
  return Object.fromEntries(
    backends.map((backend, k) => [
      backend,
      {
        us: median(all.map((set) => median(set[k].us))),
        best: Math.min(...all.flatMap((set) => set[k].us)),
        ends: all.map((set) => set[k].end),
      },
    ]),
  );
}

/** From the start of a process to its first sum: ms, and the bytes that are resident then. */
export async function startUp(backend) {
  const started = performance.now();
  const subject = new Subject('start', backend);
  const [{ resident }] = await Promise.race([once(subject.child, 'message'), subject.gone]);
  const ms = performance.now() - started;
  subject.end();
  await once(subject.child, 'close');
  return { ms, resident };
}
