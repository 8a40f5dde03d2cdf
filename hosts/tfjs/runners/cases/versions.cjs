// Two versions of TensorFlow.js in one program: this one's own is older than that of ebb-tfjs/backend. They share an engine.
const assert = require('node:assert/strict');
const older = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');

assert.notEqual(older.version_core, tf.version_core);
assert.equal(older.engine(), tf.engine());
ebb.reclaim.on();
const held = older.tensor1d([1, 2, 3]);
for (let i = 0; i < 20000; i++) {
  older.add(older.tensor1d([i]), 1);
  tf.add(tf.tensor1d([i]), 1);
}
ebb.collect();
ebb.audit();
assert.equal(tf.add(held, 1).dataSync().join(), '2,3,4');
assert.ok(tf.memory().numTensors < 30000);
console.log('ok');
