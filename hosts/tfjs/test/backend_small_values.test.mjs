// Values of few bytes take a way of their own to the addon and back.
import { tf } from './backend_support.mjs';
import assert from 'node:assert';
import { test } from 'node:test';

const bitsOf = (values) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);

for (const size of [1, 2, 15, 16, 17, 64]) {
  test(`${size} values of each dtype come back as they were`, () => {
    const numbers = Array.from({ length: size }, (_, i) => (i - 7) * 1.25);
    const cases = {
      float32: Float32Array.from(numbers),
      int32: Int32Array.from(numbers, Math.round),
      bool: Uint8Array.from(numbers, (each) => (each > 0 ? 1 : 0)),
    };
    for (const [dtype, values] of Object.entries(cases)) {
      const tensor = tf.tensor1d(values, dtype);
      assert.deepStrictEqual(tensor.dataSync(), values);
      tensor.dispose();
    }
  });
}

test('complex numbers, empty tensors and parts of larger arrays', () => {
  const many = Float32Array.from({ length: 40 }, (_, i) => i);
  const part = many.subarray(5, 11);
  const tensor = tf.tensor2d(part, [2, 3]);
  many.fill(0); // the tensor has the values of its own
  assert.deepStrictEqual([...tensor.dataSync()], [5, 6, 7, 8, 9, 10]);
  const complex = tf.complex([1, 2], [3, 4]);
  assert.deepStrictEqual([...complex.dataSync()], [1, 3, 2, 4]);
  const empty = tf.tensor1d(new Float32Array(0));
  assert.strictEqual(empty.dataSync().length, 0);
  tf.dispose([tensor, complex, empty]);
});

test('NaNs, infinities, zeros and subnormal numbers keep their bits', () => {
  const bits = [0x7fc00001, 0xffc12345, 0x7f800001, 0x7f800000, 0x80000000, 0x00000001];
  const values = new Float32Array(Uint32Array.from(bits).buffer);
  const tensor = tf.tensor1d(values);
  assert.deepStrictEqual(bitsOf(tensor.dataSync()), bitsOf(values));
  tensor.dispose();
});

test('what was read is not read again with other values', () => {
  const tensors = [1, 2, 3].map((value) => tf.tensor1d([value, -value]));
  const read = tensors.map((tensor) => tensor.dataSync());
  assert.deepStrictEqual(
    read.map((each) => [...each]),
    [
      [1, -1],
      [2, -2],
      [3, -3],
    ],
  );
  tf.dispose(tensors);
});

test('a stale one is an error with a name', () => {
  const tensor = tf.tensor1d([1, 2]);
  const { dataId } = tensor;
  tensor.dispose();
  assert.throws(() => tf.backend().readSync(dataId), /disposed/);
});
