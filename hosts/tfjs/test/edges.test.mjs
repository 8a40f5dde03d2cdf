// What programs do at the edges: ids, thenables, sizes, scopes that nobody ends, models that nobody keeps.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertBooks, collected, ebb, onEachBackend, require, tf, use } from './support.mjs';

const MB = 2 ** 20;

test('a tensor whose id is no number is refused, and counts for nothing', async () => {
  await use('cpu');
  ebb.reclaim.on();
  const before = tf.engine().state.numTensors;
  for (const id of ['seven', NaN, undefined, {}, -1]) {
    const made = { id, dtype: 'float32', shape: [1], size: 1, dataId: {}, dispose() {} };
    assert.throws(() => tf.engine().trackTensor(made, tf.backend()), {
      code: 'EBB_INVALID_ARGUMENT',
      message: /\[trackTensor: id\]/,
    });
  }
  assert.equal(tf.engine().state.numTensors, before);
  assertBooks();
});

test('thenables in tidy: waited for, begun in the region, whatever their then gives back', async () => {
  await use('cpu');
  const before = tf.memory().numTensors;
  let made;
  const lazy = {
    then(resolve) {
      made = tf.ones([3]); // belongs to the region: it ends with it
      resolve(tf.add(made, 1));
    },
  };
  const result = ebb.tidy(() => lazy);
  assert.ok(result instanceof Promise);
  const value = await result;
  assert.deepEqual([...value.dataSync()], [2, 2, 2]);
  assert.ok(made.isDisposed);
  value.dispose();
  await assert.rejects(
    ebb.tidy(() => ({ then: (_, reject) => reject(new Error('no')) })),
    /no/,
  );
  assert.throws(() => ebb.tidy(() => Object.defineProperty({}, 'then', { get: broken })), /broken/);
  assert.equal(tf.memory().numTensors, before);
  assert.equal(tf.engine().state.scopeStack.length, 0);
});

function broken() {
  throw new Error('broken');
}

test('a result beyond what WebAssembly can address is an error before anything is written', async () => {
  await use('wasm');
  ebb.budget('64GB');
  ebb.reclaim.on();
  tf.ones([1]).dispose();
  const heap = tf.backend().wasm.HEAPU8.length;
  assert.throws(() => tf.fill([2 ** 15, 2 ** 15 + 1], 1), { code: 'EBB_OUT_OF_MEMORY' });
  assert.equal(tf.backend().wasm.HEAPU8.length, heap);
  const sum = tf.add([1, 2], 1);
  assert.deepEqual([...sum.dataSync()], [2, 3]);
  sum.dispose();
  ebb.budget('8GB');
  assertBooks();
});

onEachBackend('a strict budget', (backend) => {
  test('refuses the result of a kernel before the backend has it', async () => {
    await use(backend);
    ebb.reclaim.on();
    ebb.budget('8GB');
    await collected();
    const ids = tf.backend().numDataIds();
    ebb.budget(ebb.memory().liveBytes + 20 * MB, { strict: true });
    try {
      assert.throws(() => tf.fill([16 * MB], 1), { code: 'EBB_OUT_OF_MEMORY' });
      assert.throws(() => tf.tile(tf.ones([1, 1024]), [16 * 1024, 1]), {
        code: 'EBB_OUT_OF_MEMORY',
      });
    } finally {
      ebb.budget('8GB');
    }
    await collected();
    assert.equal(tf.backend().numDataIds(), ids);
  });
});

onEachBackend('a scope that nobody ends', (backend) => {
  test('does not stop early collections', async () => {
    await use(backend);
    ebb.reclaim.on();
    await collected();
    tf.engine().startScope('forgotten');
    try {
      for (let i = 0; i < 600; i++) tf.add(1, i); // long enough to be no tidy
      const start = ebb.memory().liveBytes;
      let most = 0;
      for (let i = 0; i < 400; i++) {
        tf.ones([256, 512]); // half a megabyte
        most = Math.max(most, ebb.memory().liveBytes - start);
      }
      assert.ok(most < 100 * MB, `${most / MB} MB`);
    } finally {
      tf.engine().endScope();
    }
  });
});

test('models that are made and dropped in a tight loop come back', async () => {
  await use('cpu');
  ebb.reclaim.on();
  await collected();
  const start = tf.engine().state.numTensors;
  let most = 0;
  for (let i = 0; i < 600; i++) {
    const layers = [tf.layers.dense({ units: 128, inputShape: [256] })];
    tf.sequential({ layers }).predict(tf.ones([1, 256])); // 128 KB each
    most = Math.max(most, tf.engine().state.numTensors - start);
  }
  assert.ok(ebb.memory().collections.major > 0, 'never a full collection');
  assert.ok(most < 600 * 4 * 0.9, `${most} of ${600 * 4} tensors at once`);
  await collected();
});

test('resolvers that know nothing of exports find ebb-tfjs/backend and ebb-tfjs/auto', () => {
  const ts = require('typescript');
  const root = fileURLToPath(new URL('..', import.meta.url));
  const project = mkdtempSync(join(root, 'build', 'node10-'));
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(root, join(project, 'node_modules', 'ebb-tfjs'));
  try {
    for (const name of ['ebb-tfjs', 'ebb-tfjs/backend', 'ebb-tfjs/auto']) {
      const options = { moduleResolution: ts.ModuleResolutionKind.Node10 };
      const { resolvedModule } = ts.resolveModuleName(
        name,
        join(project, 'app.ts'),
        options,
        ts.sys,
      );
      assert.match(resolvedModule?.resolvedFileName ?? 'none', /dist\/.*\.d\.ts$/, name);
    }
  } finally {
    rmSync(project, { recursive: true });
  }
});
