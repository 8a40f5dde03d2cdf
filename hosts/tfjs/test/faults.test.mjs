// Calls of Node-API fail, each in turn, once and for ever: JavaScript gets an error or a right value, the books
// balance, nothing is left behind, and the program goes on.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildTarget } from '../scripts/cmake.mjs';

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, '..');
buildTarget('ebb_node_faulty');
process.env.EBB_ADDON = join(root, 'build/ebb_node_faulty.node');
const addon = require(process.env.EBB_ADDON);
const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const ebb = require('..');
Object.assign(tf, { node: require('../backend').node });

const MOST = 2000; // points of one scenario
const picture = await tf.node.encodePng(tf.zeros([4, 4, 3], 'int32'));

/** Runs `work` with each call of Node-API failing in turn. Returns how many points there were. */
function failInTurn(work, check) {
  let points = 0;
  for (const andLater of [false, true]) {
    for (let n = 1; n < MOST; n++) {
      addon.failAt(n, andLater);
      let error;
      try {
        work();
      } catch (thrown) {
        error = thrown;
      }
      const failed = addon.failed();
      check(error, `call ${n}${andLater ? ' and later' : ''}`);
      if (failed === 0) break;
      points++;
    }
  }
  return points;
}

const SCENARIOS = {
  operations: () => {
    tf.tidy(() => {
      const a = tf.tensor2d([1, 2, 3, 4], [2, 2]);
      const b = tf.add(a, a).reshape([4]);
      assert.deepEqual([...b.dataSync()], [2, 4, 6, 8]);
    });
  },
  'several results': () => {
    tf.tidy(() => void tf.split(tf.tensor1d([1, 2, 3, 4]), 2));
  },
  dropped: () => {
    for (let i = 0; i < 3; i++) tf.relu(tf.tensor1d([1, -2, 3]));
    ebb.collect();
  },
  pictures: () => {
    tf.node.decodePng(picture).dispose();
  },
  books: () => {
    ebb.memory();
    ebb.report();
    ebb.audit();
  },
};

for (const backend of ['cpu', 'ebb']) {
  for (const [name, work] of Object.entries(SCENARIOS)) {
    test(`${backend}: ${name}, with every call of Node-API failing`, async (t) => {
      await tf.setBackend(backend);
      ebb.reclaim.on();
      work();
      ebb.collect();
      const before = ebb.memory();
      const points = failInTurn(work, (error, where) => {
        assert.ok(error === undefined || error instanceof Error, where);
        ebb.audit();
      });
      assert.ok(points > 3, `${points} points`);
      work();
      ebb.collect();
      ebb.audit();
      const left = ebb.memory().live - before.live;
      t.diagnostic(`${points} points, ${left} tensors left`);
      // Where one of several results cannot be watched, those after it are nobody's (docs/reliability.md).
      assert.ok(name === 'several results' ? left <= points : left === 0, `${left} tensors left`);
      ebb.reclaim.off();
    });
  }
}
