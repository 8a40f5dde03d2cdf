// Pages that do what nobody would recommend: values stay right, the books balance, and errors say what to do.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newPage, openPage } from './browsers.mjs';
import { openForTests, programsAnd } from './session.mjs';

const opened = openForTests({
  extra: () => ({
    ...programsAnd('misuse.js'),
    '/policy.html': `<!doctype html><meta http-equiv="content-security-policy"
      content="script-src 'self' 'unsafe-inline'">
      <script src="/tf.js"></script><script src="/ebb/ebb.js"></script>`,
  }),
});
const { run } = opened;

describe('load', () => {
  test('what is not the core is refused, and the core is taken after it', async () => {
    const { codes, early, sum, value, live } = await run('wrongCores');
    for (const [name, code] of Object.entries(codes))
      assert.match(code, /^EBB_(INVALID_ARGUMENT|UNSUPPORTED)$/, name);
    assert.equal(early, 'EBB_WRONG_STATE');
    assert.equal(sum, 60);
    assert.equal(value, 1);
    assert.ok(live >= 2, `${live}`);
  });

  test('a policy without wasm-unsafe-eval is named', async () => {
    const page = await newPage(opened.browser);
    await page.goto(`${opened.origin}/policy.html`);
    const { code, message } = await page.evaluate(() =>
      globalThis.ebb.load().catch(({ code, message }) => ({ code, message })),
    );
    await page.close();
    assert.equal(code, 'EBB_UNSUPPORTED');
    assert.match(message, /Content Security Policy|unsafe-eval/);
  });

  test('two copies of ebb.js share the books', async () => {
    const { unloaded, isOn, sum, same, inBoth, off } = await run('twoCopies', { backend: 'webgl' });
    assert.equal(unloaded, 'nothing');
    assert.deepEqual(
      { isOn, sum, same, inBoth, off },
      {
        isOn: true,
        sum: 60,
        same: true,
        inBoth: 100,
        off: false,
      },
    );
  });
});

for (const backend of ['webgl', 'webgpu']) {
  describe(backend, () => {
    test('off and on within kernels, gradients, tidies and reads', async () => {
      const { wrong, switches, live } = await run('switchedInside', { backend });
      assert.equal(wrong, 0);
      assert.ok(switches >= 100);
      assert.ok(live <= 4, `${live} left`);
    });

    test('tf.engine().reset() in the middle of things', async () => {
      const { codes, sums, expected, live } = await run('resets', { backend });
      assert.deepEqual(sums, [expected, expected, expected, expected]);
      assert.deepEqual(codes, ['nothing', 'nothing', 'nothing', 'nothing']);
      assert.ok(live <= 4, `${live} left`);
    });
  });
}

// Between webgpu and others tensors move by synchronous reads, which end the GPU's process here, with Ebb and without.
const ORDERS = [
  { order: ['webgl', 'cpu', 'webgl', 'cpu'], moving: true },
  { order: ['webgl', 'webgpu', 'cpu', 'webgl', 'webgpu', 'cpu'], moving: false },
];
for (const { order, moving } of ORDERS) {
  test(`tensors that live while backends come and go: ${order.join(', ')}`, async () => {
    const result = await run('backends', { backend: 'webgl', order, moving });
    assert.deepEqual(
      result.values,
      order.map((_, i) => 3 + i),
    );
    assert.ok(result.live <= result.kept + 4, `${result.live} live, ${result.kept} kept`);
  });
}

test('a device of before a reset is not listened to', async () => {
  assert.equal((await run('lateNews', { backend: 'webgpu' })).got, 2);
});

test('what is at hand is read without the GPU', async () => {
  const { counts } = await run('questions');
  assert.deepEqual(counts, { given: 0, computed: 1, again: 0, small: 0, byKernel: 1 });
});

test('a frozen tensor is freed as TensorFlow.js frees it', async () => {
  const { code, left } = await run('frozen');
  assert.deepEqual({ code, left }, { code: 'TypeError', left: 0 });
});

test('sizes that are none', async () => {
  const { codes, sums, expected } = await run('budgets');
  for (const [what, code] of Object.entries(codes))
    assert.equal(code, what.startsWith('good') ? 'nothing' : 'EBB_INVALID_ARGUMENT', what);
  assert.deepEqual(new Set(sums), new Set([expected]));
});

for (const where of ['page', 'worker']) {
  test(`tidies of strange functions, in a ${where}`, async () => {
    const { codes, got, left } = await run('tidies', {}, where);
    assert.deepEqual(codes, {
      thrower: 'TypeError',
      undefinedThrown: 'undefined',
      rejected: '7',
      scopeAfter: 'EBB_WRONG_STATE',
      notWork: 'EBB_INVALID_ARGUMENT',
      generator: 'nothing',
    });
    assert.deepEqual(got, { thenable: 4, pending: 'function', inner: 6, cyclic: 8, mixed: 10 });
    assert.equal(left, 5, 'what was returned, and what waits for ever');
  });
}

test('a canvas of its own in a worker, and its loss', async () => {
  const { sum, expected, lost } = await run('ownCanvas', {}, 'worker');
  assert.equal(sum, expected);
  assert.equal(lost, 'EBB_DEVICE_ERROR');
});

test('reclaim switched in each frame', async () => {
  const { sum, expected, left } = await run('everyFrame', { backend: 'webgl' });
  assert.equal(sum, expected);
  assert.ok(left <= 2, `${left} left`);
});

test('iframes removed while they load, work and are read', async () => {
  const { sum, expected, outside } = await run('iframes', { backend: 'webgl' });
  assert.equal(sum, expected);
  assert.ok(outside.length >= 2, `${outside.length} calls from outside`);
});

test('switched on before there is a TensorFlow.js', async () => {
  const { early, tidied, isOn, left } = await run('beforeTensorFlow');
  assert.deepEqual(
    { early, tidied, isOn },
    { early: 'nothing', tidied: 'EBB_NO_TFJS', isOn: true },
  );
  assert.ok(left <= 1, `${left} left`);
});

test('workers terminated while they load', async () => {
  const { page, run: inPage } = await openPage(opened.browser, opened.origin);
  try {
    await page.evaluate(async () => {
      for (const ms of [0, 5, 20, 50, 100, 200]) {
        const worker = new globalThis.Worker('/worker.js');
        worker.postMessage({ name: 'endless', options: { backend: 'webgl', budget: 2 ** 26 } });
        await new Promise((resolve) => setTimeout(resolve, ms));
        worker.terminate();
      }
    });
    const { sum, expected } = await inPage('goesOn', { backend: 'webgl' });
    assert.equal(sum, expected);
  } finally {
    await page.close();
  }
});

test('workers terminated in the middle of a step leave the others alone', async () => {
  const { page, run: inPage } = await openPage(opened.browser, opened.origin);
  try {
    await page.evaluate(async () => {
      for (const backend of ['webgl', 'webgpu']) {
        const worker = new globalThis.Worker('/worker.js');
        worker.postMessage({ name: 'endless', options: { backend, budget: 2 ** 26 } });
        await new Promise((resolve) => setTimeout(resolve, 1000));
        worker.terminate();
      }
    });
    const { sum, expected } = await inPage('goesOn', { backend: 'webgpu' });
    assert.equal(sum, expected);
  } finally {
    await page.close();
  }
});

test('a page that goes on after another was in its place', async () => {
  const { page, run: inPage } = await openPage(opened.browser, opened.origin);
  try {
    await inPage('goesOn', { backend: 'webgl' });
    await page.evaluate(() => (globalThis.wasHere = true));
    await page.goto(`${opened.origin}/policy.html`);
    await page.goBack();
    const kept = await page.evaluate(() => globalThis.wasHere === true);
    const { sum, expected } = await inPage('goesOn', kept ? undefined : { backend: 'webgl' });
    assert.equal(sum, expected);
  } finally {
    await page.close();
  }
});
