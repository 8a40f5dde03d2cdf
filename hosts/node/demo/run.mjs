// The careless training with reclaim off and on: the same program, one flag more. Shows each epoch, draws both
// runs here and into build/demo/node_mnist.svg.
//
//   EBB_DEMO_EPOCHS   how many epochs (12)
//   EBB_DEMO_STOP_MB  at how much resident memory a run is stopped (1500); left alone, the run without
//                     reclaim goes on to the end of wasm's 4 GB, and dies there
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { svgChart, textChart } from './chart.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..', '..');
const MB = 2 ** 20;
const EPOCHS = Number(process.env.EBB_DEMO_EPOCHS ?? 12);
const STOP_MB = Number(process.env.EBB_DEMO_STOP_MB ?? 1500);
const SAMPLE_MS = 200;

function residentOf(pid) {
  try {
    return (
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
    );
  } catch {
    return 0; // it has ended
  }
}

function show({ epoch, seconds, processor, resident, tensors, accuracy }) {
  console.log(
    `  epoch ${String(epoch).padStart(2)}  ${seconds.toFixed(1).padStart(5)} s (${processor.toFixed(1)} s of processor)  ` +
      `${String(Math.round(resident / MB)).padStart(5)} MB resident  ${String(tensors).padStart(6)} tensors  ` +
      `${(100 * accuracy).toFixed(1)}% right`,
  );
}

/** Runs the program once; its memory is looked at from outside, a few times a second. */
async function train(flags) {
  const child = spawn(process.execPath, [...flags, join(here, 'careless_mnist.cjs')], {
    cwd: join(here, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, EBB_DEMO_EPOCHS: String(EPOCHS) },
  });
  const run = { epochs: [], ends: [], samples: [], stopped: false };
  const sampler = setInterval(() => {
    const resident = residentOf(child.pid);
    if (resident > 0) run.samples.push({ at: performance.now(), resident });
    if (resident > STOP_MB * MB) {
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

function howItEnded({ status, stopped, epochs }) {
  if (stopped) return `stopped at ${STOP_MB} MB in epoch ${epochs.length + 1}`;
  return status === 0 ? '' : `died in epoch ${epochs.length + 1} (${status})`;
}

function curveOf(run, name, color, mark) {
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
function faultsOf(off, on) {
  const faults = [];
  if (on.status !== 0 || on.epochs.length !== EPOCHS)
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

function summary(name, run) {
  const { tensors, epoch } = run.epochs.at(-1);
  const time = `${secondsOf(run).toFixed(2)} s of processor an epoch`;
  return `${name.padEnd(4)} ${peak(run)} MB at most, ${time}, ${tensors} tensors after epoch ${epoch}`;
}

console.log(
  `MNIST, 784-128-64-10, wasm backend, ${EPOCHS} epochs of 12,000 images; nothing disposed, no tidy\n`,
);
console.log(`reclaim off: node careless_mnist.cjs, to be stopped at ${STOP_MB} MB`);
const off = await train([]);
console.log(`  ${howItEnded(off) || 'finished'}\n`);
console.log('reclaim on: node --import ebb-tfjs/auto careless_mnist.cjs');
const on = await train(['--import', 'ebb-tfjs/auto']);
console.log(`  ${howItEnded(on) || 'finished'}\n`);

const runs = [curveOf(off, 'reclaim off', 'red', 'o'), curveOf(on, 'reclaim on', 'blue', '+')];
const title = 'Careless MNIST training in Node, resident memory';
console.log(textChart(title, EPOCHS, runs));
const picture = join(root, 'build', 'demo', 'node_mnist.svg');
mkdirSync(dirname(picture), { recursive: true });
writeFileSync(
  picture,
  svgChart('Careless MNIST training in Node (TensorFlow.js, wasm)', EPOCHS, runs),
);

console.log(`\n${summary('off', off)}\n${summary('on', on)}`);
console.log(`memory and time by epoch: ${relative(process.cwd(), picture)}`);
const faults = faultsOf(off, on);
if (faults.length === 0)
  console.log('losses and accuracy are the same, epoch by epoch, to the last digit');
for (const fault of faults) console.log(`FAULT ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);
