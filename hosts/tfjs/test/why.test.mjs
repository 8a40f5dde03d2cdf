// Who holds a tensor: by heap snapshots of this process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ebb, onEachBackend, tf, use } from './support.mjs';

function deferred() {
  let resolve;
  return { promise: new Promise((done) => (resolve = done)), resolve: () => resolve() };
}

const cache = new Map();
class Model {
  #weights = new Set();
  keep(tensor) {
    this.#weights.add(tensor);
    return tensor;
  }
}
const model = new Model();
process.on('ebb-test', () => [cache, model]); // holds both variables

onEachBackend('why', (backend) => {
  test('the way to a tensor, by names of the program', async () => {
    await use(backend);
    ebb.reclaim.on();
    cache.set('features', { list: [tf.scalar(0), tf.scalar(1)] });
    const { heldBy, steps } = await ebb.why(cache.get('features').list[1]);
    assert.equal(
      heldBy,
      'why.test.mjs: cache (Map) -> .get("features") (Object) -> .list (Array) -> [1]',
    );
    assert.ok(steps.length >= 5, steps.join('\n'));
    tf.dispose(cache.get('features').list);
    cache.clear();
  });

  test('who waits for another answer is not in the way', { skip: backend !== 'wasm' }, async () => {
    await use(backend);
    ebb.trace.on();
    const nested = (depth) => (depth === 0 ? tf.scalar(0) : [nested(depth - 1)]);
    cache.set('deep', nested(50)); // any other way would be shorter
    ebb.trace.off();
    const ask = () => ebb.why(cache.get('deep').flat(49)[0]);
    const [first, [place], second] = await Promise.all([ask(), ebb.holders('why.test'), ask()]);
    assert.match(first.heldBy, /^why\.test\.mjs: cache \(Map\)/);
    assert.equal(place.heldBy, first.heldBy);
    assert.equal(second.heldBy, first.heldBy);
    tf.dispose(cache.get('deep').flat(49));
    cache.clear();
  });

  test(
    'global objects, private fields, functions, and what nothing holds',
    { skip: backend !== 'wasm' },
    async () => {
      globalThis.ebbTest = { deep: { list: [1, [tf.scalar(1)]] } };
      const inGlobal = await ebb.why(globalThis.ebbTest.deep.list[1][0]);
      assert.equal(
        inGlobal.heldBy,
        'global.ebbTest (Object) -> .deep (Object) -> .list (Array) -> [1] (Array) -> [0]',
      );
      delete globalThis.ebbTest;
      const inPrivate = await ebb.why(model.keep(tf.scalar(2)));
      assert.match(inPrivate.heldBy, /model \(Model\) -> \.#weights \(Set\) -> \[an entry\]/);
      const captured = tf.scalar(3);
      const timer = setTimeout(() => captured.dispose(), 1e6);
      assert.match((await ebb.why(captured)).heldBy, /^why\.test\.mjs: captured$/);
      clearTimeout(timer);
      captured.dispose();
      const waiting = Promise.withResolvers?.() ?? deferred();
      const task = (async () => {
        const local = tf.scalar(5);
        globalThis.local = new WeakRef(local);
        await waiting.promise;
        return local.dataSync();
      })();
      const inTask = await ebb.why(globalThis.local.deref());
      assert.match(inTask.heldBy, /^why\.test\.mjs: a variable of a function that waits$/);
      waiting.resolve();
      await task;
      const alone = await ebb.why(tf.scalar(4));
      assert.equal(alone.heldBy, undefined);
    },
  );

  test('holders of a place', async () => {
    ebb.trace.on();
    cache.set('all', []);
    for (let i = 0; i < 200; i++) cache.get('all').push(tf.scalar(i));
    ebb.trace.off();
    const [{ place, tensors, heldBy }, ...others] = await ebb.holders('why.test.mjs');
    assert.equal(others.length, 0);
    assert.match(place, /why\.test\.mjs:\d+$/);
    assert.equal(tensors, 64);
    assert.match(heldBy, /^why\.test\.mjs: cache \(Map\) -> \.get\("all"\) \(Array\) -> \[\d+\]$/);
    assert.deepEqual(await ebb.holders('nowhere.js:1'), []);
    tf.dispose(cache.get('all'));
    cache.clear();
  });
});

test('where memory is short, it is left alone', async () => {
  const x = tf.scalar(1);
  const { availableMemory } = process;
  process.availableMemory = () => 1 << 20;
  try {
    const refused = {
      code: 'EBB_WRONG_STATE',
      message: /may need .* MB, and there are 1.00 MB; allowed: {force: true}/,
    };
    await assert.rejects(ebb.why(x), refused);
  } finally {
    process.availableMemory = availableMemory;
  }
  x.dispose();
});

test('arguments are checked', async () => {
  const allowed = { code: 'EBB_INVALID_ARGUMENT', message: /allowed:/ };
  for (const tensor of [undefined, null, 3, {}]) await assert.rejects(ebb.why(tensor), allowed);
  const x = tf.scalar(1);
  await assert.rejects(ebb.why(x, { force: 1 }), allowed);
  await assert.rejects(ebb.why(x, { deep: true }), allowed);
  await assert.rejects(ebb.holders(''), allowed);
  x.dispose();
});
