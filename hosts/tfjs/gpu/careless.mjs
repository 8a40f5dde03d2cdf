// A program that knows nothing of Ebb: it drops 100 tensors of a megabyte on webgpu.
import { withWebGpu } from './dawn.mjs';

const tf = await withWebGpu();
await tf.setBackend('webgpu');
let sum = tf.scalar(0);
let allocated = 0;
for (let i = 0; i < 100; i++) {
  sum = tf.add(sum, tf.max(tf.fill([512, 512], i % 7)));
  allocated = Math.max(allocated, tf.memory().numBytesAllocatedInGPU);
  if (i % 10 === 9) await sum.data();
}
const [got] = await sum.data();
const expected = Array.from({ length: 100 }, (_, i) => i % 7).reduce((a, b) => a + b);
const figures = { right: got === expected, allocatedMB: allocated / 2 ** 20 };
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
