// Runs a training program, watches its memory from outside, and compares two runs of it. The program prints one
// JSON line {"begin": true}, then one for each epoch: epoch, seconds, processor, loss, accuracy, resident, and how many
// tensors or arrays there are.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { createInterface } from 'node:readline';

const MB = 2 ** 20;
const SAMPLE_MS = 200;

/** A path as seen from where npm or make was called. */
export const pathFromUser = (path) => relative(process.env.INIT_CWD ?? process.cwd(), path);

function residentOf(pid) {
  try {
    return (
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
    );
  } catch {
    return 0; // it has ended
  }
}

const countOf = ({ tensors, arrays }) =>
  tensors === undefined ? `${arrays} arrays` : `${tensors} tensors`;

function show(epoch) {
  const { seconds, processor, resident, accuracy } = epoch;
  console.log(
    `  epoch ${String(epoch.epoch).padStart(2)}  ${seconds.toFixed(1).padStart(5)} s (${processor.toFixed(1)} s of processor)  ` +
      `${String(Math.round(resident / MB)).padStart(5)} MB resident  ${countOf(epoch).padStart(14)}  ` +
      `${(100 * accuracy).toFixed(1)}% right`,
  );
}

/** Runs the program once; it is stopped at so many MB of resident memory. `options` are those of spawn. */
export async function train(command, flags, options, stopMb) {
  const child = spawn(command, flags, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  const run = { epochs: [], ends: [], samples: [], stopped: false, stopMb };
  const sampler = setInterval(() => {
    const resident = residentOf(child.pid);
    if (resident > 0) run.samples.push({ at: performance.now(), resident });
    if (resident > stopMb * MB) {
      run.stopped = true;
      child.kill('SIGKILL');
    }
  }, SAMPLE_MS);
  const ended = new Promise((resolve) =>
    child.on('close', (code, signal) => resolve(signal ?? code)),
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const { begin, ...epoch } = JSON.parse(line);
    if (begin) run.begin = performance.now();
    else {
      run.epochs.push(epoch);
      run.ends.push(performance.now());
      show(epoch);
    }
  }
  run.status = await ended;
  clearInterval(sampler);
  return run;
}

/** Where in the training a sample was taken: whole epochs, and the share of the one under way. */
function positionOf({ begin, ends }, at) {
  const done = ends.filter((end) => end <= at).length;
  const from = done === 0 ? begin : ends[done - 1];
  const typical = done === 0 ? ends[0] - begin : from - (ends[done - 2] ?? begin);
  return done + Math.min(1, (at - from) / (done < ends.length ? ends[done] - from : typical));
}

export function howItEnded({ status, stopped, stopMb, epochs }) {
  if (stopped) return `stopped at ${stopMb} MB in epoch ${epochs.length + 1}`;
  return status === 0 ? '' : `died in epoch ${epochs.length + 1} (${status})`;
}

/** A run as chart.mjs wants it. */
export function curveOf(run, name, color, mark) {
  const during = run.samples.filter(
    ({ at }) => at >= run.begin && (run.stopped || at <= run.ends.at(-1)),
  );
  return {
    name,
    color,
    mark,
    end: howItEnded(run),
    memory: during.map(({ at, resident }) => [positionOf(run, at), resident]),
    seconds: run.epochs.map(({ processor }) => processor),
  };
}

/** Both runs must have learned the same: memory given back too early would show here. */
export function faultsOf(off, on, epochs) {
  const faults = [];
  if (on.status !== 0 || on.epochs.length !== epochs)
    faults.push(`with reclaim the run ended early: ${howItEnded(on)}`);
  off.epochs.forEach(({ loss, accuracy }, i) => {
    const other = on.epochs[i];
    if (other && (other.loss !== loss || other.accuracy !== accuracy))
      faults.push(`epoch ${i + 1} learned something else`);
  });
  return faults;
}

const peak = ({ samples }) =>
  Math.round(samples.reduce((most, { resident }) => Math.max(most, resident), 0) / MB);
const secondsOf = ({ epochs }) =>
  epochs.reduce((sum, { processor }) => sum + processor, 0) / epochs.length;

export function summary(name, run) {
  const last = run.epochs.at(-1);
  const time = `${secondsOf(run).toFixed(2)} s of processor an epoch`;
  return `${name.padEnd(4)} ${peak(run)} MB at most, ${time}, ${countOf(last)} after epoch ${last.epoch}`;
}
