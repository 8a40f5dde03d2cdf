// ebb-tfjs on Node's GPUs: what is dropped comes back, trim, and a GPU that fails is an error and never a wrong number.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gpuEnvironment, runOnGpu } from './gpus.mjs';
import { installDawn, installGl } from './install.mjs';

const MB = 2 ** 20;
const BACKENDS = (process.env.EBB_TEST_GPUS ?? 'webgpu').split(',');

/** headless-gl says of no context that it is lost: each call of one that is destroyed throws. */
const LOST = { webgpu: /lost/, webgl: /Invalid GL context/ };

installDawn();
if (BACKENDS.includes('webgl')) installGl();

for (const backend of BACKENDS) {
  for (const wait of ['data', 'never']) {
    test(`${backend}: a careless loop stays within its budget, ${wait}`, () => {
      const budget = 60 * MB;
      const result = runOnGpu(backend, 'careless', { budget, rounds: 25, wait });
      assert.equal(result.got, result.expected);
      assert.ok(result.balanced, 'the books balance');
      assert.ok(result.reclaimed > 25, `${result.reclaimed} reclaimed`);
      assert.ok(result.peak <= 1.5 * budget, `${result.peak / MB} MB at most`);
    });
  }

  test(`${backend}: what is kept for reuse stays within the budget, and trim gives it back`, () => {
    const budget = 40 * MB;
    const given = runOnGpu(backend, 'sizes', { budget, count: 20 });
    const { peak, wrong, kept, trimmed, after, sum } = given;
    assert.equal(wrong, 0);
    assert.ok(peak <= 1.5 * budget, `${peak / MB} MB at most`);
    assert.equal(kept - trimmed, after);
    assert.ok(trimmed > 0 && after < 8 * MB, `${after / MB} MB left after trim`);
    assert.equal(sum, 3e6);
  });

  test(`${backend}: a program that goes quiet gives back what it dropped`, () => {
    const { most, left, variables } = runOnGpu(backend, 'quiet');
    assert.ok(most >= 100, `${most} were alive`);
    assert.equal(left, 0);
    assert.equal(variables, 0);
  });

  test(`${backend}: a lost device is an error at the next safe point, and no value`, () => {
    const { good, kernel, read, again } = runOnGpu(backend, 'lost');
    assert.equal(good, 2);
    if (backend === 'webgpu') assert.equal(again, 7, 'tf.engine().reset() begins again');
    for (const error of [kernel, read]) {
      assert.match(error?.message ?? '', LOST[backend]);
      if (backend === 'webgpu') assert.equal(error.code, 'EBB_DEVICE_ERROR');
    }
  });
}

// headless-gl ends the process instead.
test('webgpu: out of memory is an error, and no value', () => {
  const { good, made, read, kernel } = runOnGpu('webgpu', 'starved', {
    budget: 8000 * MB,
    rows: 65536,
    limit: 100 * MB,
  });
  assert.equal(good, 2);
  for (const error of [made ?? read, read, kernel]) {
    assert.equal(error?.code, 'EBB_OUT_OF_MEMORY', error?.message);
    assert.match(error.message, /Who holds what/);
  }
});

test('webgpu: a program as it is, by ebb-tfjs/auto', () => {
  const file = (name) => fileURLToPath(new URL(name, import.meta.url));
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--import', file('../dist/auto.js'), file('careless.mjs')],
    { env: { ...gpuEnvironment, EBB_BUDGET: '20MB' }, encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  const { right, allocatedMB } = JSON.parse(stdout.trim().split('\n').at(-1));
  assert.ok(right);
  assert.ok(allocatedMB <= 30, `${allocatedMB} MB of 100 MB that it made`);
});
