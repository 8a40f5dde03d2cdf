// Backend `ebb`: every kernel is there, storage behaves, memory is exact.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { leavesNothing, require, tf, tidyValues, values } from './backend_support.mjs';

leavesNothing();

/** Named in tfjs-core, but nothing calls it and no backend of TensorFlow.js has it. */
const CALLED_BY_NOTHING = ['Pool'];

function kernelNames() {
  const core = dirname(require.resolve('@tensorflow/tfjs-core/package.json'));
  const source = readFileSync(join(core, 'dist', 'kernel_names.js'), 'utf8');
  return [...source.matchAll(/^export const \w+ = '(\w+)';$/gm)].map(([, name]) => name);
}

test('every kernel that tfjs-core names is registered', () => {
  const names = kernelNames().filter((name) => !CALLED_BY_NOTHING.includes(name));
  assert.equal(names.length, 179);
  assert.deepEqual(
    names.filter((name) => tf.getKernel(name, 'ebb') === undefined),
    [],
  );
});

test('everything of TensorFlow.js is exported, to require and to import alike', async () => {
  const plain = require('@tensorflow/tfjs');
  const imported = await import('ebb-tfjs/backend');
  for (const name of Object.keys(plain)) {
    if (name === 'default') continue;
    assert.ok(name in tf, name);
    assert.equal(imported[name], tf[name], name);
  }
  assert.equal(tf.getBackend(), 'ebb');
  assert.equal(typeof tf.version['ebb-tfjs'], 'string');
});

for (const [dtype, given, bytes] of [
  ['float32', [1.5, -2, NaN, Infinity], 16],
  ['int32', [1, -2, 2147483647, 0], 16],
  ['bool', [1, 0, 1, 1], 4],
]) {
  test(`${dtype}: what goes in comes out, and is counted to the byte`, async () => {
    const x = tf.tensor1d(given, dtype);
    assert.equal(tf.memory().numBytes, bytes);
    assert.equal(tf.memory().unreliable, false);
    assert.deepEqual(values(x), given);
    assert.deepEqual(Array.from(await x.data()), given);
    x.dispose();
    assert.equal(tf.memory().numBytes, 0);
  });
}

test('a tensor has its own copy of what it was made from, and gives out copies', () => {
  const source = new Float32Array([1, 2, 3]);
  const x = tf.tensor1d(source);
  source[0] = 9;
  const first = x.dataSync();
  first[1] = 9;
  assert.deepEqual(values(x), [1, 2, 3]);
  x.dispose();
});

test('strings, and memory that says so', () => {
  const words = tf.tensor2d(['to', 'ebb', 'and', 'flow'], [2, 2]);
  assert.equal(tf.memory().unreliable, true);
  assert.deepEqual(
    tidyValuesOfText(() => tf.slice(words, [1, 0], [1, 2])),
    ['and', 'flow'],
  );
  words.dispose();
});

function tidyValuesOfText(run) {
  const result = tf.tidy(run);
  const all = result.dataSync();
  result.dispose();
  return all;
}

test('empty tensors and scalars', () => {
  assert.deepEqual(
    tidyValues(() => tf.add(tf.zeros([0, 3]), 1)),
    [],
  );
  assert.deepEqual(
    tidyValues(() => tf.scalar(2).add(3)),
    [5],
  );
});

test('tensors over the same data share it, whatever their shapes', () => {
  const x = tf.tensor1d([1, 2, 3, 4, 5, 6]);
  const before = tf.memory();
  const y = x.reshape([2, 3]);
  const z = y.expandDims(0);
  assert.equal(tf.memory().numDataBuffers, before.numDataBuffers);
  x.dispose();
  assert.deepEqual(
    tidyValues(() => y.sum(1)),
    [6, 15],
  );
  y.dispose();
  assert.deepEqual(
    tidyValues(() => z.sum([0, 1])),
    [5, 7, 9],
  );
  z.dispose();
});

test('data moves to another backend and back', async () => {
  const x = tf.tensor1d([1, 2, 3]);
  await tf.setBackend('cpu');
  const y = x.add(1);
  assert.equal(tf.backend().constructor.name, 'MathBackendCPU');
  assert.deepEqual(values(y), [2, 3, 4]);
  await tf.setBackend('ebb');
  const z = y.add(x);
  assert.deepEqual(values(z), [3, 5, 7]);
  tf.dispose([x, y, z]);
});

test('time and profile', async () => {
  assert.equal(tf.backend().timerAvailable(), true);
  const x = tf.ones([64, 64]);
  const { kernelMs, wallMs } = await tf.time(() => tf.matMul(x, x).dispose());
  assert.ok(kernelMs > 0 && kernelMs <= wallMs * 1.5 + 1, `${kernelMs} of ${wallMs} ms`);
  const profile = await tf.profile(() => tf.matMul(x, x).dispose());
  assert.deepEqual(profile.kernelNames, ['BatchMatMul']);
  assert.equal(profile.peakBytes, 2 * 64 * 64 * 4);
  x.dispose();
});

for (const [inner, columns] of [
  [1, 1],
  [3, 7],
  [128, 128],
  [33, 131],
  [5, 300],
]) {
  test(`one row times ${inner}x${columns}, with bias and relu, is what a plain loop says`, () => {
    const number = (i) => Math.fround(Math.sin(i * 12.9898) * 2);
    const x = Float32Array.from({ length: inner }, (_, i) => number(i));
    const w = Float32Array.from({ length: inner * columns }, (_, i) => number(i + 1000));
    const bias = Float32Array.from({ length: columns }, (_, i) => number(i + 5000));
    const sums = Array.from(bias, (b, j) =>
      x.reduce((sum, v, k) => sum + v * w[k * columns + j], b),
    );
    const [a, b, c] = [
      tf.tensor2d(x, [1, inner]),
      tf.tensor2d(w, [inner, columns]),
      tf.tensor1d(bias),
    ];
    const products = tidyValues(() => tf.fused.matMul({ a, b, bias: c, activation: 'relu' }));
    const plain = tidyValues(() => tf.matMul(a, b).add(c).relu());
    products.forEach((value, j) => {
      const expected = Math.max(0, sums[j]);
      assert.ok(Math.abs(value - expected) <= 1e-5 * inner, `${j}: ${value}, not ${expected}`);
      assert.ok(
        Math.abs(plain[j] - expected) <= 1e-5 * inner,
        `${j}: ${plain[j]}, not ${expected}`,
      );
    });
    tf.dispose([a, b, c]);
  });
}

test('stacks of matrices, of one and of many', () => {
  const [a, b] = tf.tidy(() => [tf.range(0, 6).reshape([2, 3]), tf.range(0, 12).reshape([3, 4])]);
  const flat = tidyValues(() => tf.matMul(a, b));
  const stack = tf.tidy(() => tf.matMul(a.reshape([1, 2, 3]), b.reshape([1, 3, 4])));
  assert.deepEqual(stack.shape, [1, 2, 4]);
  assert.deepEqual(values(stack), flat);
  const many = tf.tidy(() => tf.matMul(tf.stack([a, a]), b.expandDims(0)));
  assert.deepEqual(many.shape, [2, 2, 4]);
  assert.deepEqual(values(many), [...flat, ...flat]);
  const deep = tf.tidy(() => tf.matMul(a.reshape([1, 1, 2, 3]), tf.stack([b, b]).expandDims(0)));
  assert.deepEqual(deep.shape, [1, 2, 2, 4]);
  assert.deepEqual(values(deep), [...flat, ...flat]);
  tf.dispose([a, b, stack, many, deep]);
});

test('an einsum is a product of matrices', () => {
  const [a, b] = tf.tidy(() => [
    tf.range(0, 24).reshape([2, 3, 4]),
    tf.range(0, 40).reshape([2, 4, 5]),
  ]);
  const product = tf.einsum('bij,bjk->bik', a, b);
  const expected = tf.matMul(a, b);
  assert.deepEqual(values(product), values(expected));
  assert.deepEqual(
    tidyValues(() => tf.einsum('bij->jb', a)),
    tidyValues(() => a.sum(1).transpose()),
  );
  assert.deepEqual(
    tidyValues(() => tf.einsum('i,j->ji', tf.tensor1d([1, 2]), tf.tensor1d([3, 4]))),
    [3, 6, 4, 8],
  );
  tf.dispose([a, b, product, expected]);
});

test('a negative padding cuts off, with the gradient of what is left', () => {
  const pad = (x, ...paddings) => tidyValues(() => tf.pad(tf.tensor(x), paddings, 9));
  assert.deepEqual(pad([1, 2, 3, 4], [0, -1]), [1, 2, 3]);
  assert.deepEqual(pad([1, 2, 3, 4], [-2, 1]), [3, 4, 9]);
  assert.deepEqual(pad([1, 2], [-1, -1]), []);
  const rows = [
    [1, 2, 3],
    [4, 5, 6],
  ];
  assert.deepEqual(pad(rows, [1, -1], [-1, 0]), [9, 9, 2, 3]);
  const gradient = tf.grad((x) => tf.pad(x, [[-1, 2]]).mul(3));
  assert.deepEqual(
    tidyValues(() => gradient(tf.tensor([1, 2, 3]))),
    [0, 3, 3],
  );
  assert.throws(() => tidyValues(() => tf.pad1d(tf.tensor([1, 2]), [-2, -1])), /\[PadV2\]/);
});

test('a picture of no height or no width is an empty one', () => {
  tf.tidy(() => {
    const image = tf.ones([2, 4, 5, 3], 'int32');
    const sizes = [
      [3, 0],
      [0, 3],
      [0, 0],
    ];
    for (const size of sizes) {
      const smooth = tf.image.resizeBilinear(image, size);
      assert.deepEqual([smooth.shape, smooth.dtype], [[2, ...size, 3], 'float32']);
      const sharp = tf.image.resizeNearestNeighbor(image, size);
      assert.deepEqual([sharp.shape, sharp.dtype], [[2, ...size, 3], 'int32']);
      assert.equal(smooth.dataSync().length + sharp.dataSync().length, 0);
    }
    assert.throws(() => tf.image.resizeBilinear(image, [-1, 0]));
  });
});
