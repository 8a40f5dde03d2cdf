// A user's report: millions of times tidy{ tensor1d(1,500 values).reshape }, each disposed by hand, and resident
// memory grew. It must stay flat to one byte an iteration, with reclaim on.
//
//   node soak/tidy_reshape.mjs [iterations (5,000,000)] [cpu|wasm, all]
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');
const ebb = require('ebb-tfjs');

const ITERATIONS = Number(process.argv[2] ?? 5_000_000);
const BACKENDS = process.argv[3] ? [process.argv[3]] : ['cpu', 'wasm'];
const BYTES_AN_ITERATION = 1;
const CHUNK = 20_000;
// V8 takes a while to find its sizes: rounds of warming up go on until two in a row end alike.
const WARM_UP_ROUND = 100_000;
const WARM_UP_ROUNDS = 6;
const ALIKE = 64 * 1024;

const values = Array.from({ length: 1500 }, (_, i) => Math.sin(i));

function iterate(count) {
  for (let i = 0; i < count; i++) {
    const tensor = tf.tidy(() => tf.tensor1d(values).reshape([30, 50]));
    tensor.dispose();
  }
}

/** Lets the event loop turn between chunks, as a program would, and says how much is resident. */
async function run(count) {
  let least = Infinity;
  for (let left = count; left > 0; left -= CHUNK) {
    iterate(Math.min(CHUNK, left));
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (let i = 0; i < 5; i++) {
    ebb.collect('major');
    await new Promise((resolve) => setTimeout(resolve, 50));
    least = Math.min(least, process.memoryUsage.rss());
  }
  return least;
}

async function warmUp() {
  let resident = await run(WARM_UP_ROUND);
  for (let i = 1; i < WARM_UP_ROUNDS; i++) {
    const last = resident;
    resident = await run(WARM_UP_ROUND);
    if (Math.abs(resident - last) <= ALIKE) break;
  }
  return resident;
}

async function measure(backend) {
  if (!(await tf.setBackend(backend))) throw new Error(`backend ${backend} did not start`);
  const started = performance.now();
  const { numTensors } = tf.memory();
  const before = await warmUp();
  const after = await run(ITERATIONS);
  const growth = (after - before) / ITERATIONS;
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `${backend}: ${ITERATIONS} iterations in ${seconds.toFixed(0)} s, resident ${(before / 2 ** 20).toFixed(1)} MB, ` +
      `then ${(after / 2 ** 20).toFixed(1)} MB: ${growth.toFixed(3)} bytes an iteration`,
  );
  ebb.audit();
  const left = tf.memory().numTensors - numTensors;
  if (left !== 0) console.log(`FAULT ${backend}: ${left} tensors left`);
  if (growth > BYTES_AN_ITERATION)
    console.log(`FAULT ${backend}: more than ${BYTES_AN_ITERATION} byte an iteration`);
  return left === 0 && growth <= BYTES_AN_ITERATION;
}

tf.enableProdMode();
ebb.reclaim.on();
let flat = true;
for (const backend of BACKENDS) flat = (await measure(backend)) && flat;
process.exit(flat ? 0 : 1);
