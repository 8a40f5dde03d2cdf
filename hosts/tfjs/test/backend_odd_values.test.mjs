// Values that tensors are made of, small and large, where the typed arrays are odd ones: the same, or an error.
import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { describe, test } from 'node:test';
import { leavesNothing, tf, values } from './backend_support.mjs';

const SIZES = [1, 2, 16, 17, 100];
const numbers = (size) => Array.from({ length: size }, (_, i) => i % 7);
const filled = (array, size) => {
  array.set(numbers(size));
  return array;
};
/** What a tensor is made of by the engine itself, which looks at nothing. */
const made = (given, shape, dtype = 'float32') => tf.engine().makeTensor(given, shape, dtype);

describe('a tensor', () => {
  leavesNothing();

  const odd = {
    'a view that begins within': (size) =>
      filled(new Float32Array(size + 3).subarray(2, size + 2), size),
    'shared memory': (size) => filled(new Float32Array(new SharedArrayBuffer(4 * size)), size),
    'memory that may grow': (size) =>
      filled(new Float32Array(new ArrayBuffer(4 * size, { maxByteLength: 8 * size })), size),
    'a Uint8ClampedArray': (size) => filled(new Uint8ClampedArray(size), size),
    'an Int32Array': (size) => filled(new Int32Array(size), size),
    'a Float64Array': (size) => filled(new Float64Array(size), size),
    'an Int8Array': (size) => filled(new Int8Array(size), size),
    'a Uint16Array': (size) => filled(new Uint16Array(size), size),
    'a Buffer': (size) => filled(Buffer.alloc(size), size),
    'an array of another realm': (size) =>
      runInNewContext(`new Float32Array(${JSON.stringify(numbers(size))})`),
    'an array of a class of its own': (size) =>
      filled(new (class Own extends Float32Array {})(size), size),
    'a plain array': numbers,
    'texts of numbers': (size) => numbers(size).map(String),
  };
  for (const [name, make] of Object.entries(odd)) {
    test(`of ${name} has its values`, () => {
      for (const size of SIZES) {
        for (const dtype of ['float32', 'int32', 'bool']) {
          const given = make(size);
          const tensor = made(given, [size], dtype);
          if (!Array.isArray(given)) given.fill(9); // the tensor has its own
          if (dtype !== 'bool') assert.deepEqual(values(tensor), numbers(size), dtype);
          else assert.deepEqual(values(tensor).map(Boolean), numbers(size).map(Boolean));
          tensor.dispose();
        }
      }
    });
  }

  test('of too few or too many values, or of none any more, is an error', () => {
    const gone = Float32Array.of(1, 2);
    globalThis.structuredClone(gone.buffer, { transfer: [gone.buffer] });
    const buffer = new ArrayBuffer(16, { maxByteLength: 16 });
    const cut = new Float32Array(buffer, 8, 2);
    if (buffer.resizable) buffer.resize(8);
    const wrong = [
      [new Float32Array(2), [3]],
      [new Float32Array(3), [2]],
      [new Float32Array(16), [17]],
      [new Float32Array(100), [99]],
      [new Float32Array(0), [1]],
      [new Float32Array(0), []],
      [new Float32Array(2), [1]],
      [new Float32Array(2), []],
      [gone, [2]],
      [gone, [1]],
      ...(buffer.resizable ? [[cut, [2]]] : []),
    ];
    for (const [given, shape] of wrong) {
      for (const dtype of ['float32', 'int32', 'bool']) {
        assert.throws(
          () => made(given, shape, dtype),
          /bytes were given, the tensor has \d+|detached/,
        );
      }
    }
    assert.throws(() => tf.tensor(gone, [2]), /should have 2 values but has 0/);
    assert.throws(() => made(new Float32Array(2), [-2]), /extents of 0 and more/);
  });

  test('is what the array is, whatever it says of itself', () => {
    const long = Object.defineProperty(Float32Array.of(1, 2), 'length', { value: 2 ** 20 });
    const short = Object.defineProperties(new Float32Array(100).fill(3), {
      byteLength: { value: 8 },
      length: { value: 2 ** 20 },
    });
    for (const given of [long, short]) {
      let tensor;
      try {
        tensor = made(given, [2]);
      } catch {
        continue; // an error is as good
      }
      assert.equal(values(tensor).length, 2);
      tensor.dispose();
    }
  });
});
