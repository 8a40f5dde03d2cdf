// Trains on MNIST under DJL with reclaim off and on: the same program, one flag more. First the third seed's own
// example on DJL 0.20.0, whose epochs get slower and slower; then a careless loop on 0.35.1, whose memory grows.
// Draws here and into build/demo/jvm_*.svg. tools/jvm.py builds, sets JAVA, EBB_JAR, EBB_MNIST, EBB_CLASSPATH (0.35.1)
// and EBB_CLASSPATH_SEED (0.20.0), and runs it.
//
//   EBB_DEMO_IMAGES   images of an epoch (30,000 of the 60,000: half as many batches, a quarter of the time without reclaim)
//   EBB_DEMO_STOP_MB  at how much resident memory a run is stopped (6000)
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { svgChart, textChart } from '../../tfjs/demo/chart.mjs';
import { curveOf, faultsOf, howItEnded, summary, train } from '../../tfjs/demo/training_runs.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const { JAVA, EBB_JAR, EBB_MNIST, EBB_CLASSPATH, EBB_CLASSPATH_SEED } = process.env;
const IMAGES = Number(process.env.EBB_DEMO_IMAGES ?? 30_000);
const STOP_MB = Number(process.env.EBB_DEMO_STOP_MB ?? 6000);
const EPOCHS = 5;
const AGENT = [`-javaagent:${EBB_JAR}`, '-Debb.reclaim=true'];

const EXAMPLES = [
  {
    file: 'jvm_seed.svg',
    title: "DJL 0.20.0, the documentation's MNIST example",
    program: 'wellwritten',
    classPath: EBB_CLASSPATH_SEED,
  },
  {
    file: 'jvm_careless.svg',
    title: 'DJL 0.35.1, MNIST with nothing closed',
    program: 'careless',
    classPath: EBB_CLASSPATH,
  },
];

function run({ program, classPath }, flags) {
  const common = ['-Dai.djl.offline=true', `-Debb.mnist=${EBB_MNIST}`, '-cp', classPath];
  const main = ['dev.ebb.djl.mnist.MnistTraining', program, String(EPOCHS), String(IMAGES)];
  return train(JAVA, [...flags, ...common, ...main], {}, STOP_MB);
}

async function show(example) {
  console.log(
    `${example.title}: 784-128-64-10, Adam, ${EPOCHS} epochs of ${IMAGES} images, batches of 32\n`,
  );
  console.log('reclaim off: java -cp ... MnistTraining');
  const off = await run(example, []);
  console.log(`  ${howItEnded(off) || 'finished'}\n`);
  console.log('reclaim on: java -javaagent:ebb-djl.jar -Debb.reclaim=true -cp ... MnistTraining');
  const on = await run(example, AGENT);
  console.log(`  ${howItEnded(on) || 'finished'}\n`);

  const runs = [curveOf(off, 'reclaim off', 'red', 'o'), curveOf(on, 'reclaim on', 'blue', '+')];
  console.log(textChart(`${example.title}, resident memory`, EPOCHS, runs));
  const picture = join(root, 'build', 'demo', example.file);
  mkdirSync(dirname(picture), { recursive: true });
  writeFileSync(picture, svgChart(example.title, EPOCHS, runs));
  console.log(`\n${summary('off', off)}\n${summary('on', on)}`);
  console.log(`memory and time by epoch: ${relative(process.cwd(), picture)}`);
  const faults = faultsOf(off, on, EPOCHS);
  if (faults.length === 0)
    console.log('losses and accuracy are the same, epoch by epoch, to the last digit\n');
  for (const fault of faults) console.log(`FAULT ${fault}`);
  return faults.length;
}

let faults = 0;
for (const example of EXAMPLES) faults += await show(example);
process.exit(faults === 0 ? 0 : 1);
