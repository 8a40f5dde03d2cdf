// What recorded functions return: kept tensors, typed arrays, and what cannot be given once more.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

describe('a recorded function', () => {
  leavesNothing();

  test('keeps in each call what it keeps', () => {
    const given = tf.keep(tf.tensor1d([5, 6]));
    const fn = (x) => {
      const y = tf.keep(x.add(1));
      return { y, list: [x.mul(given), y, tf.keep(x.neg())], given };
    };
    const outcomes = [];
    for (const isRecorded of [false, true]) {
      const run = isRecorded ? ebb.record(fn) : fn;
      const x = tf.tensor1d([1, 2]);
      for (let i = 0; i < 4; i++) {
        const before = tf.memory().numTensors;
        let results;
        tf.tidy(() => {
          results = run(x);
        });
        const { y, list } = results;
        outcomes.push([
          ...[y, ...list].map((each) => each.isDisposed),
          values(y),
          values(list[2]),
          tf.memory().numTensors - before,
        ]);
        tf.dispose([y, list]);
        assert.equal(tf.memory().numTensors, before);
      }
      x.dispose();
      if (isRecorded) {
        assert.equal(run.info().replayed, 3);
        run.dispose();
      }
    }
    assert.deepEqual(outcomes.slice(4), outcomes.slice(0, 4));
    given.dispose();
  });
});

describe('a recorded function gives plain data anew', () => {
  leavesNothing();

  const whole = Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7);
  const data = {
    Float32Array: () => Float32Array.of(1, 2),
    BigInt64Array: () => BigInt64Array.of(1n, 2n),
    'a part of a buffer': () => whole.slice().subarray(2, 5),
    Buffer: () => Buffer.from([1, 2, 3]),
    DataView: () => new DataView(whole.slice().buffer, 1, 3),
    ArrayBuffer: () => whole.slice().buffer,
  };
  const bytesOf = (value) => {
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  };
  for (const [name, make] of Object.entries(data)) {
    test(name, () => {
      const fn = () => ({ list: [make()] });
      const fast = ebb.record(fn);
      const seen = new Set();
      for (let i = 0; i < 4; i++) {
        const [ours, theirs] = [fast(), fn()].map(({ list: [each] }) => each);
        assert.equal(Object.getPrototypeOf(ours), Object.getPrototypeOf(theirs));
        assert.deepEqual(ours, theirs);
        bytesOf(ours).fill(9);
        seen.add(ours);
      }
      assert.deepEqual([seen.size, fast.info().replayed], [4, 3]);
      fast.dispose();
    });
  }
});

describe('a recorded function does not return', () => {
  leavesNothing();

  class Pages {
    next() {
      return { done: true };
    }
    [Symbol.asyncIterator]() {
      return this;
    }
  }
  const refused = {
    'a generator': [
      function* (x) {
        yield x.add(1);
      },
      /"f" returns an iterator, as a generator is; allowed: tensors, arrays and plain objects/,
    ],
    'an iterator': [(x) => [x.add(1), [1, 2].values()], /returns an iterator/],
    'an iterator that is waited for': [() => ({ pages: new Pages() }), /returns an iterator/],
    'a Map': [(x) => new Map([['y', x.add(1)]]), /returns a Map; allowed/],
    'a Set within an object': [(x) => ({ all: new Set([x.add(1)]) }), /returns a Set; allowed/],
    'something with then': [(x) => ({ then() {}, y: x.add(1) }), /returns a promise; allowed/],
    'a promise within an object': [(x) => ({ y: x.add(1), p: Promise.resolve(1) }), /a promise/],
  };
  for (const [name, [fn, message]] of Object.entries(refused)) {
    test(name, () => {
      const fast = ebb.record(fn, { name: 'f' });
      const x = tf.tensor1d([1]);
      for (let i = 0; i < 3; i++) {
        assert.throws(() => fast(x), { code: 'EBB_UNSUPPORTED', message });
      }
      assert.equal(fast.info().recorded, 0);
      x.dispose();
    });
  }

  test('a promise, and nobody hears of how it ends', async () => {
    const unhandled = [];
    const listen = (error) => unhandled.push(error.message);
    process.on('unhandledRejection', listen);
    const x = tf.tensor1d([1]);
    const late = async (y) => {
      await undefined;
      return y.add(1);
    };
    for (const fn of [late, (y) => ({ deep: [late(y)] })]) {
      const fast = ebb.record(fn);
      assert.throws(() => fast(x), { code: 'EBB_UNSUPPORTED', message: /returns a promise/ });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off('unhandledRejection', listen);
    assert.deepEqual(unhandled, []);
    x.dispose();
  });
});
