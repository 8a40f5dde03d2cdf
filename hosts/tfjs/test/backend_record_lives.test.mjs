// Functions that make tensors they do not return, or end tensors they did not make: a replay would do neither.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { collected, ebb, leavesNothing, require, tf, values } from './backend_support.mjs';

const pair = (value = 0) => tf.tensor1d([value, value]);
const KEEPS = 'it keeps tensors that it does not return, as stateful layers do';
const DISPOSES = 'it disposes tensors that it did not make';

/** What four calls give, what is found outside after each, and why none of them was a replay. */
function lives(fast, x, outside = () => undefined) {
  const found = [];
  for (let i = 0; i < 4; i++) {
    const y = fast(x);
    found.push([values(y)[0], outside()]);
    y.dispose();
  }
  const { replayed, reasons } = fast.info();
  fast.dispose();
  return { found, replayed, reasons: Object.keys(reasons) };
}

for (const reclaims of [false, true]) {
  describe(`a recorded function, reclaim ${reclaims ? 'on' : 'off'}`, () => {
    leavesNothing();
    const inMode = (run) => async () => {
      if (reclaims) ebb.reclaim.on();
      try {
        await run();
      } finally {
        ebb.reclaim.off();
        await collected();
      }
    };

    test(
      'that disposes of one tensor and keeps another is run each time',
      inMode(() => {
        let last = tf.keep(pair());
        const x = pair(1);
        const fast = ebb.record((y) => {
          last.dispose();
          last = tf.keep(y.add(++calls));
          return y.mul(2);
        });
        let calls = 0;
        const { found, replayed, reasons } = lives(fast, x, () => values(last)[0]);
        assert.deepEqual(found, [
          [2, 2],
          [2, 3],
          [2, 4],
          [2, 5],
        ]);
        assert.deepEqual([replayed, reasons], [0, [KEEPS]]);
        tf.dispose([x, last]);
      }),
    );

    test(
      'that keeps what it was given, or a clone of a tensor from outside, is run each time',
      inMode(() => {
        const [x, c] = [pair(1), pair(2)];
        const kept = [];
        for (const keeps of [
          (y) => tf.keep(y),
          () => tf.keep(c.clone()),
          () => tf.keep(c.reshape([2, 1])),
        ]) {
          const spare = [pair(), pair(), pair(), pair()];
          const fast = ebb.record((y) => {
            spare.pop().dispose();
            kept.push(keeps(y));
            return y.mul(2);
          });
          const { replayed, reasons } = lives(fast, x);
          assert.deepEqual([replayed, reasons], [0, [KEEPS]]);
          tf.dispose(kept.splice(0).filter((each) => each !== x));
        }
        tf.dispose([x, c]);
      }),
    );

    test(
      'that disposes of a tensor it does not use is run each time',
      inMode(() => {
        const all = [pair(), pair(), pair(), pair(), pair()];
        const x = pair(1);
        const fast = ebb.record((y) => {
          all.pop().dispose();
          return y.mul(2);
        });
        const { found, replayed, reasons } = lives(fast, x, () => all.length);
        assert.deepEqual(
          found.map(([, left]) => left),
          [4, 3, 2, 1],
        );
        assert.deepEqual([replayed, reasons], [0, [DISPOSES]]);
        tf.dispose([x, all]);
      }),
    );

    test(
      'that makes, keeps and disposes of its own alone is replayed',
      inMode(() => {
        const x = pair(1);
        const v = tf.tidy(() => tf.variable(pair(3)));
        const fast = ebb.record((y) => {
          const own = tf.keep(y.add(1));
          const sum = own.add(v);
          own.dispose();
          v.assign(sum.mul(1));
          return tf.tidy(() => sum.mul(2));
        });
        const { found, replayed, reasons } = lives(fast, x, () => values(v)[0]);
        assert.deepEqual(found, [
          [10, 5],
          [14, 7],
          [18, 9],
          [22, 11],
        ]);
        assert.deepEqual([replayed, reasons], [3, []]);
        tf.dispose([x, v]);
      }),
    );

    test(
      'that has a stateful layer is run each time',
      inMode(() => {
        const rnn = tf.layers.lstm({ units: 2, stateful: true, batchInputShape: [1, 1, 2] });
        const model = ebb.record(tf.sequential({ layers: [rnn] }), {
          name: `stateful ${reclaims}`,
        });
        const x = tf.ones([1, 1, 2]);
        const seen = new Set();
        for (let i = 0; i < 4; i++) {
          const y = model.predict(x);
          seen.add(values(y).join());
          y.dispose();
        }
        assert.equal(seen.size, 4);
        const { recorded } = ebb.report({ json: true });
        const { replayed, reasons } = recorded.find(
          ({ name }) => name === `stateful ${reclaims}.predict`,
        );
        assert.deepEqual([replayed, reasons], [0, { [KEEPS]: 4 }]);
        tf.dispose([x, rnn.states]);
        model.dispose();
      }),
    );
  });
}

test('a function that is the first to use ebb.tidy is recorded in its next call', async () => {
  const program = () => {
    const tf = require('ebb-tfjs/backend');
    const ebb = require('ebb-tfjs');
    const kept = [];
    const fast = ebb.record((y, keeps) =>
      ebb.tidy(() => {
        if (keeps) kept.push(tf.keep(y.add(1)));
        return y.mul(2);
      }),
    );
    const x = tf.ones([2]);
    for (let i = 0; i < 4; i++) fast(x, true);
    const first = [kept.length, fast.info().reasons];
    for (let i = 0; i < 4; i++) fast(x, false);
    return [...first, fast.info().replayed];
  };
  const worker = new Worker(
    `const require = (name) => process.getBuiltinModule('node:module').createRequire(${JSON.stringify(import.meta.url)})(name);
     require('node:worker_threads').parentPort.postMessage((${program})());`,
    { eval: true },
  );
  const [kept, reasons, replayed] = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
  assert.deepEqual([kept, replayed], [4, 3]);
  assert.deepEqual(reasons, {
    'it was the first to use ebb.tidy, reclaim, trace or the like': 1,
    [KEEPS]: 3,
  });
});
