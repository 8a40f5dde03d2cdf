// The careless training with reclaim off and on: the same program, one flag more. Shows each epoch, draws both
// runs here and into build/demo/node_mnist.svg.
//
//   EBB_DEMO_EPOCHS   how many epochs (8)
//   EBB_DEMO_STOP_MB  at how much resident memory a run is stopped (1500); left alone, the run without
//                     reclaim goes on to the end of wasm's 4 GB, and dies there
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { trainOnEbb } from './backend_runs.mjs';
import { svgChart, textChart } from './chart.mjs';
import { curveOf, faultsOf, howItEnded, pathFromUser, summary, train } from './training_runs.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..', '..');
const EPOCHS = Number(process.env.EBB_DEMO_EPOCHS ?? 8);
const STOP_MB = Number(process.env.EBB_DEMO_STOP_MB ?? 1500);

function run(flags) {
  const options = {
    cwd: join(here, '..'),
    env: { ...process.env, EBB_DEMO_EPOCHS: String(EPOCHS) },
  };
  return train(process.execPath, [...flags, join(here, 'careless_mnist.cjs')], options, STOP_MB);
}

console.log(
  `MNIST, 784-128-64-10, wasm backend, ${EPOCHS} epochs of 12,000 images; nothing disposed, no tidy\n`,
);
console.log(`reclaim off: node careless_mnist.cjs, to be stopped at ${STOP_MB} MB`);
const off = await run([]);
console.log(`  ${howItEnded(off) || 'finished'}\n`);
console.log('reclaim on: node --import ebb-tfjs/auto careless_mnist.cjs');
const on = await run(['--import', 'ebb-tfjs/auto']);
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
console.log(`memory and time by epoch: ${pathFromUser(picture)}`);
const faults = faultsOf(off, on, EPOCHS);
if (faults.length === 0)
  console.log('losses and accuracy are the same, epoch by epoch, to the last digit');
faults.push(...(await trainOnEbb(on, EPOCHS, STOP_MB)));
for (const fault of faults) console.log(`FAULT ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);
