// Item 7: the wasm backend does not notice when its heap is full, and writes to address 0.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertBooks, collected, ebb, tf, use } from './support.mjs';

const MB = 2 ** 20;

await use('wasm');
const heap = limitedHeap(tf.backend().wasm);
ebb.reclaim.on();

/** Puts a limit under the backend's heap, below whatever else is put there later. */
function limitedHeap(wasm) {
  wasm._free(wasm._malloc(1)); // the first call replaces the properties
  const { _malloc: malloc, _free: free } = wasm;
  const sizes = new Map();
  const state = { limit: Infinity, used: 0, failures: 0 };
  wasm._malloc = (bytes) => {
    if (state.used + bytes > state.limit) {
      state.failures++;
      return 0;
    }
    const address = malloc(bytes);
    sizes.set(address >>> 0, bytes);
    state.used += bytes;
    return address;
  };
  wasm._free = (address) => {
    state.used -= sizes.get(address >>> 0) ?? 0;
    sizes.delete(address >>> 0);
    free(address);
  };
  return state;
}

test('an allocation that fails collects and goes on', async () => {
  heap.limit = heap.used + 6 * MB; // less than tensors grow by before Ebb collects of itself
  try {
    const kept = tf.fill([512, 512], 7);
    (() => {
      for (let i = 0; i < 40; i++) tf.relu(tf.add(kept, i));
    })();
    assert.ok(heap.failures > 0, 'the limit was never met');
    assert.ok(kept.dataSync().every((value) => value === 7));
    kept.dispose();
  } finally {
    heap.limit = Infinity;
  }
  await collected();
  assertBooks();
});

test('out of memory for good is an error that names the sites, and corrupts nothing', async () => {
  ebb.trace.on();
  heap.limit = heap.used + 20 * MB;
  const held = [];
  try {
    const before = tf.memory().numDataBuffers;
    assert.throws(
      () => {
        for (let i = 0; ; i++) held.push(tf.fill([512, 512], i));
      },
      (error) =>
        error.code === 'EBB_OUT_OF_MEMORY' && /wasm_full\.test\.mjs:\d+/.test(error.message),
    );
    assert.ok(held.length > 10);
    held.forEach((tensor, i) => assert.ok(tensor.dataSync().every((value) => value === i)));
    assert.equal(tf.memory().numDataBuffers - before, held.length);
    const ids = tf.backend().numDataIds();
    assert.throws(() => tf.softmax(held[0]), { code: 'EBB_OUT_OF_MEMORY' });
    assert.equal(tf.backend().numDataIds(), ids, 'the failed kernel left data behind');
    tf.dispose(held.splice(5));
    assert.equal(tf.add(held[2], 1).dataSync()[0], 3);
  } finally {
    heap.limit = Infinity;
    ebb.trace.off();
    tf.dispose(held);
  }
  await collected();
  assertBooks();
});
