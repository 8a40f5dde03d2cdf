// The careless training on Ebb's own backend: the same program with `ebb-tfjs/backend` in place of TensorFlow.js
// and wasm, reclaim off and on, and what it takes beside wasm. Draws into build/demo/node_backend.svg.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { svgChart, textChart } from './chart.mjs';
import { curveOf, faultsOf, howItEnded, pathFromUser, summary, train } from './training_runs.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const PICTURE = join(here, '..', '..', '..', 'build', 'demo', 'node_backend.svg');
/** Two backends round differently, and learn almost the same. */
const CLOSE = 0.02;

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const epochOf = ({ epochs }) => median(epochs.map(({ seconds }) => seconds));
const accuracyOf = ({ epochs }) => epochs.at(-1)?.accuracy ?? 0;
const percent = (share) => `${(100 * share).toFixed(1)}%`;

function run(flags, epochs, stopMb) {
  const env = { ...process.env, EBB_DEMO_BACKEND: 'ebb', EBB_DEMO_EPOCHS: String(epochs) };
  const program = [...flags, join(here, 'careless_mnist.cjs')];
  return train(process.execPath, program, { cwd: join(here, '..'), env }, stopMb);
}

function draw(epochs, runs) {
  console.log(textChart('Careless MNIST training on backend ebb, resident memory', epochs, runs));
  mkdirSync(dirname(PICTURE), { recursive: true });
  writeFileSync(PICTURE, svgChart('Careless MNIST training in Node (backend ebb)', epochs, runs));
}

/** `wasm` is the run of the same program there, reclaim on. Returns what went wrong. */
export async function trainOnEbb(wasm, epochs, stopMb) {
  console.log(`\nThe same on backend ebb, in place of tfjs-node: require('ebb-tfjs/backend')\n`);
  console.log(`reclaim off, to be stopped at ${stopMb} MB`);
  const off = await run([], epochs, stopMb);
  console.log(`  ${howItEnded(off) || 'finished'}\n`);
  console.log('reclaim on');
  const on = await run(['--import', 'ebb-tfjs/auto'], epochs, stopMb);
  console.log(`  ${howItEnded(on) || 'finished'}\n`);
  draw(epochs, [curveOf(off, 'reclaim off', 'red', 'o'), curveOf(on, 'reclaim on', 'blue', '+')]);
  console.log(`\n${summary('off', off)}\n${summary('on', on)}`);
  console.log(
    `${percent(accuracyOf(on))} right after ${on.epochs.length} epochs (wasm: ${percent(accuracyOf(wasm))}); ` +
      `an epoch takes ${epochOf(on).toFixed(2)} s, on wasm ${epochOf(wasm).toFixed(2)} s: ` +
      `${(epochOf(wasm) / epochOf(on)).toFixed(1)} x as fast`,
  );
  console.log(`memory and time by epoch: ${pathFromUser(PICTURE)}`);
  const faults = faultsOf(off, on, epochs);
  if (Math.abs(accuracyOf(on) - accuracyOf(wasm)) > CLOSE) {
    faults.push(
      `backend ebb learned ${percent(accuracyOf(on))}, wasm ${percent(accuracyOf(wasm))}`,
    );
  }
  return faults;
}
