// The functions of ebb-tfjs/web, in a page and in a worker of Chromium.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openForTests } from './session.mjs';

const MB = 2 ** 20;
const { run } = openForTests();

for (const where of ['page', 'worker']) {
  describe(`in a ${where}`, () => {
    test('nothing works before the core is loaded, and it says so', async () => {
      const { early, nowhere, budget, deviceMemory } = await run('unloaded', {}, where);
      assert.equal(early.code, 'EBB_WRONG_STATE');
      assert.match(early.message, /await load\(\)/);
      assert.equal(nowhere.code, 'EBB_UNSUPPORTED');
      assert.match(nowhere.message, /404/);
      assert.equal(budget, ((deviceMemory ?? 2) * 2 ** 30) / 2);
    });

    test('async tidies interleave, each with its scope', async () => {
      const result = await run('tidyInterleaved', {}, where);
      assert.equal(result.left, 2);
      assert.deepEqual(result.values, [9, 9]);
      assert.equal(result.afterwards.code, 'EBB_WRONG_STATE');
      assert.equal(result.notAFunction.code, 'EBB_INVALID_ARGUMENT');
      assert.equal(result.thrown.message, 'mine');
      assert.equal(result.leftAfterError, 2);
    });

    test('leaks are found and named', async () => {
      const { careless, careful, held } = await run('leaks', {}, where);
      assert.equal(careless.code, 'EBB_LEAK');
      assert.match(careless.message, /programs\.js:\d+/);
      assert.equal(careful, undefined);
      assert.equal(held, 1);
    });

    test('reports name the line', async () => {
      const { text, json, stale, kept } = await run('reports', {}, where);
      assert.match(text, /aPlaceWithAName \(http.*programs\.js:\d+\)/);
      assert.ok(typeof json === 'object');
      assert.equal(stale.code, 'EBB_STALE_HANDLE');
      assert.match(stale.message, /made at aPlaceWithAName/);
      assert.equal(kept, 4);
    });
  });
}

test('a strict budget throws, naming what holds the memory, and goes on after', async () => {
  const { error, count, sum, wrong } = await run('strict');
  assert.equal(error.code, 'EBB_OUT_OF_MEMORY');
  assert.ok(count >= 8 && count <= 10, `${count} of 2 MB in 20 MB`);
  assert.equal(sum, 2 * 512 * 1024);
  assert.equal(wrong.code, 'EBB_INVALID_ARGUMENT');
});

test('a page that is left alone gives back what it dropped, variables too', async () => {
  const { most, left, variables, disposable, hasSymbol } = await run('quiet');
  assert.ok(most >= 100, `${most} were alive`);
  assert.equal(left, 0);
  assert.equal(variables, 0);
  assert.equal(disposable, hasSymbol);
});

test('switched off it gives nothing back, switched on again it does', async () => {
  const { off, on, isOn } = await run('switched');
  assert.ok(off >= 20, `${off}`);
  assert.ok(on <= 1, `${on} left`);
  assert.equal(isOn, true);
});

for (const backend of ['webgl', 'webgpu']) {
  test(`${backend}: what is kept for reuse stays within the budget, and trim gives it back`, async () => {
    const budget = 60 * MB;
    const { peak, wrong, kept, trimmed, after, sum } = await run('sizes', { backend, budget });
    assert.equal(wrong, 0);
    assert.ok(peak <= 1.5 * budget, `${peak / MB} MB at most`);
    assert.equal(kept - trimmed, after);
    assert.ok(trimmed > 0 && after < 8 * MB, `${after / MB} MB left after trim`);
    assert.equal(sum, 3e6);
  });
}

for (const backend of ['webgl', 'webgpu']) {
  test(`${backend}: a lost device is an error at the next safe point, and no value`, async () => {
    const { good, kernel, read, again } = await run('lost', { backend });
    assert.equal(good, 2);
    assert.equal(again, 7, 'tf.engine().reset() begins again');
    for (const error of [kernel, read]) {
      assert.equal(error?.code, 'EBB_DEVICE_ERROR');
      assert.match(error.message, /lost/);
    }
  });
}
