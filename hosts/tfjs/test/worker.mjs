// The worker of workers.test.mjs.
import { parentPort, workerData } from 'node:worker_threads';
import { collected, ebb, tf, use } from './support.mjs';

const { backend, rounds, forever } = workerData;
await use(backend);
const isOn = ebb.reclaim.isOn;
const start = await collected();
(() => {
  for (let i = 0; i < (rounds ?? 0); i++) tf.add(tf.tensor1d([i]), 1);
})();
const left = await collected();
const { reclaimed, budget } = ebb.memory();
ebb.audit();
if (forever) {
  const held = [];
  for (let i = 0; ; i++) {
    held.push(tf.tensor1d([i]));
    tf.add(held[i], 1);
    if (i === 1000) parentPort.postMessage({});
  }
}
parentPort.postMessage({ start, left, isOn, reclaimed, budget });
