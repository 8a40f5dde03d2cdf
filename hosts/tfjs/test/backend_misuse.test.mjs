// Bad input: `[op] what was given, what is allowed`, nothing leaked, and the next operation works.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

leavesNothing();

const run = (name, inputs, attrs) => tf.engine().runKernel(name, inputs, attrs);
const x = () => tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]);
const y = () => tf.tensor1d([1, 2]);

test('more axes than a tensor of Ebb has', () => {
  for (const axes of [7, 8, 9]) {
    const shape = [...Array(axes - 1).fill(1), 6];
    tf.tidy(() => {
      const message = new RegExp(`Received ${axes} axes; allowed: at most 6`);
      assert.throws(() => tf.reshape(x(), shape).add(1), message);
      assert.throws(() => tf.tensor([1, 2, 3, 4, 5, 6], shape).add(1), message);
    });
  }
});

/** Straight to the kernels: TensorFlow.js checks less for those who call them so. */
const CASES = [
  ['shapes that do not broadcast', 'Add', () => run('Add', { a: x(), b: y() })],
  ['an axis that is not there', 'Softmax', () => run('Softmax', { logits: x() }, { dim: 2 })],
  [
    'inner sizes that differ',
    'BatchMatMul',
    () => run('BatchMatMul', { a: x(), b: x() }, { transposeA: false, transposeB: false }),
  ],
  ['a wrong permutation', 'Transpose', () => run('Transpose', { x: x() }, { perm: [0, 0] })],
  ['as many repetitions as axes', 'Tile', () => run('Tile', { x: x() }, { reps: [2] })],
  ['a negative size', 'Fill', () => run('Fill', {}, { shape: [-1], value: 0, dtype: 'float32' })],
  ['more than there is', 'TopK', () => run('TopK', { x: x() }, { k: 4, sorted: true })],
  ['one rank too many', 'Diag', () => run('FFT', { input: x() }, {}), 'FFT'],
  [
    'a word it does not know',
    'MirrorPad',
    () =>
      run(
        'MirrorPad',
        { x: x() },
        {
          paddings: [
            [0, 0],
            [0, 0],
          ],
          mode: 'constant',
        },
      ),
  ],
  ['as many elements', 'Reshape', () => run('Reshape', { x: x() }, { shape: [7] })],
  ['sizes below zero', 'Reshape', () => run('Reshape', { x: x() }, { shape: [-2, -3] }), 'Reshape'],
  [
    'one axis too many',
    'Relu',
    () => run('Relu', { x: x().reshape([2, 3, 1, 1, 1, 1, 1, 1, 1]) }),
    'tensor',
  ],
  [
    'a filter for other channels',
    'Conv2D',
    () =>
      run(
        'Conv2D',
        { x: tf.ones([1, 4, 4, 2]), filter: tf.ones([3, 3, 3, 1]) },
        { strides: 1, pad: 'same', dataFormat: 'NHWC', dilations: 1 },
      ),
  ],
  [
    'indices of another dtype',
    'GatherV2',
    () => run('GatherV2', { x: x(), indices: y() }, { axis: 0 }),
  ],
  ['text', 'Add', () => run('Add', { a: tf.tensor1d(['a']), b: tf.tensor1d(['b']) })],
];

for (const [title, op, body, named = op] of CASES) {
  test(`${op}: ${title}`, () => {
    assert.throws(
      () => tf.tidy(body),
      (error) => {
        assert.match(error.message, new RegExp(`^\\[${named}\\] `));
        assert.ok(error.message.length > named.length + 20, error.message);
        return true;
      },
    );
    const sum = tf.tidy(() => tf.add(x(), 1));
    assert.deepEqual(values(sum), [2, 3, 4, 5, 6, 7]);
    sum.dispose();
  });
}

test('a disposed operand', () => {
  const gone = x();
  gone.dispose();
  assert.throws(
    () => run('Relu', { x: gone }),
    (error) => error.code === 'EBB_STALE_HANDLE' && /^\[Relu\] .*disposed/.test(error.message),
  );
});

test('out of budget: an error with a name, and room again afterwards', () => {
  const held = [];
  ebb.budget('64MB', { strict: true });
  try {
    assert.throws(
      () => {
        for (let i = 0; i < 40; i++) held.push(tf.fill([1 << 20], i));
      },
      (error) => error.code === 'EBB_OUT_OF_MEMORY' && /^\[Fill\] /.test(error.message),
    );
    assert.ok(held.length >= 8, `${held.length} of 4 MB in 64 MB`);
    held.forEach((tensor, i) => assert.equal(tensor.dataSync()[12345], i));
    tf.dispose(held);
    const one = tf.fill([1 << 20], 7);
    assert.equal(one.dataSync()[1], 7);
    one.dispose();
  } finally {
    ebb.budget('64GB');
  }
});
