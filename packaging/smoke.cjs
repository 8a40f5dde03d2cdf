// Uses package ebb-tfjs as it is installed beside this file, and prints what came out: the platform, the bytes of every
// result as a digest (equal on processors whose vectors differ), and sums that can be looked at. `make dist-test` runs it.
const { createHash } = require('node:crypto');
const tf = require('ebb-tfjs/backend');
const { memory, reclaim } = require('ebb-tfjs');

reclaim.on();
console.log('platform', process.platform, process.arch);

/** Numbers in [-1, 1), the same everywhere. */
function numbers(shape, seed) {
  let state = seed;
  const count = shape.reduce((a, b) => a * b, 1);
  const made = Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
  return tf.tensor(made, shape);
}

const image = numbers([2, 33, 35, 6], 1);
const results = {
  product: tf.matMul(numbers([70, 600], 2), numbers([600, 90], 3)),
  batched: tf.matMul(numbers([5, 17, 40], 4), numbers([5, 9, 40], 5), false, true),
  row: tf.matMul(numbers([1, 300], 6), numbers([300, 45], 7)),
  winograd: tf.conv2d(image, numbers([3, 3, 6, 16], 8), 1, 'same'),
  strided: tf.conv2d(image, numbers([5, 5, 6, 20], 9), 2, 'same'),
  depthwise: tf.depthwiseConv2d(image, numbers([3, 3, 6, 2], 10), 1, 'same'),
  pooled: tf.maxPool(image, 3, 2, 'same'),
  sum: image.sum([1, 2]),
  mean: image.mean(),
  softmax: numbers([9, 101], 11).softmax(),
  relu: image.relu(),
  gradient: tf.grad((x) => tf.conv2d(x, numbers([3, 3, 6, 4], 12), 2, 'valid').square().sum())(image),
  weights: tf.grad((w) => tf.conv2d(image, w, 1, 'same').square().sum())(numbers([3, 3, 6, 4], 13)),
  sorted: tf.topk(numbers([500], 14), 20).values,
};
const digest = createHash('sha256');
for (const [name, result] of Object.entries(results)) {
  const data = result.dataSync();
  digest.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  const total = data.reduce((a, b) => a + Math.abs(b), 0);
  console.log(`${name} ${result.shape.join('x') || 'scalar'} ${total.toPrecision(5)}`);
}
(async () => {
  const picture = tf.tidy(() => tf.range(0, 48).reshape([4, 4, 3]).toInt());
  const decoded = tf.node.decodePng(await tf.node.encodePng(picture));
  console.log('png', tf.max(tf.abs(decoded.sub(picture))).dataSync()[0]);
  for (let i = 0; i < 30000; i++) tf.add(tf.scalar(i), 1);
  console.log('careless', memory().live < 15000 ? 'flat' : 'growing');
  console.log('digest', digest.digest('hex'));
})();
