// The wasm heap really filled, all 4 GB of it: a careless program goes on, one that holds on to everything gets an
// error with the places, and no value is wrong after either. Needs 5 GB of memory.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');
const ebb = require('ebb-tfjs');

const MB = 2 ** 20;
const SIDE = 2048; // 16 MB a tensor

tf.enableProdMode();
assert.equal(await tf.setBackend('wasm'), true);
assert.equal(tf.backend().constructor.name, 'BackendWasm');
const { wasm } = tf.backend();
let refusals = 0;
countRefusals();
ebb.reclaim.on();
ebb.trace.on();
ebb.budget('64GB'); // out of the way: only the heap itself says no

const size = () => wasm.HEAPU8.length;
const started = performance.now();
const say = (text) => {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${seconds} s: ${text}; heap ${(size() / MB).toFixed(0)} MB, ${tf.memory().numTensors} tensors`,
  );
};

/** Refuses to go on if a tensor does not hold `value` throughout. */
function check(tensor, value) {
  assert.ok(
    tensor.dataSync().every((found) => found === value),
    `a tensor of ${value} was overwritten`,
  );
}

/** Sees what the heap answers before Ebb does. */
function countRefusals() {
  wasm._free(wasm._malloc(1)); // the first call replaces the property
  const { _malloc: malloc } = wasm;
  wasm._malloc = (bytes) => {
    const address = malloc(bytes);
    if (address === 0 && bytes > 0) refusals++;
    return address;
  };
}

// 1. Held until nothing more comes: an error, not a write to address 0.
const held = [];
assert.throws(
  () => {
    for (;;) held.push(tf.fill([SIDE, SIDE], held.length));
  },
  (error) => error.code === 'EBB_OUT_OF_MEMORY' && /wasm_exhaustion\.mjs:\d+/.test(error.message),
);
assert.ok(refusals > 0 && size() > 3.9 * 1024 * MB, 'the heap was never full');
held.forEach(check);
say(`full with ${held.length} tensors held: an error with the places, what is held is right`);

// 2. Room for two of them, and careless work that makes six hundred.
tf.dispose(held.splice(-2));
const before = ebb.memory().reclaimed;
const refused = refusals;
(() => {
  for (let i = 0; i < 300; i++) tf.relu(tf.add(held[i % held.length], 1));
})();
assert.ok(ebb.memory().reclaimed - before > 590, 'nothing was given back');
held.forEach(check);
say(`careless work done (${refusals - refused} refusals met), what is held is right`);

// 3. Room again: the program goes on.
tf.dispose(held.splice(8));
const sum = tf.add(held[3], held[4]);
check(sum, 7);
sum.dispose();
ebb.collect();
ebb.audit();
assert.equal(ebb.memory().live, tf.memory().numTensors);
say('room again, and it goes on');
