// A GPU that runs out of memory: an error, and never a wrong number. Its process is given a limit from outside.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchChromium, runIn, serve } from './browsers.mjs';
import { gpuProcess, limitData } from './processes.mjs';

const MB = 2 ** 20;

let server, origin;
before(async () => {
  ({ server, origin } = await serve());
});
after(() => server?.close());

for (const backend of ['webgl', 'webgpu']) {
  test(`${backend}: out of memory is an error`, async () => {
    const browser = await launchChromium();
    try {
      await runIn(browser, origin, 'page', 'careless', { backend, rounds: 2, wait: 'data' });
      limitData(gpuProcess(browser), 400 * MB);
      const { error, wrong, count } = await runIn(browser, origin, 'page', 'hoard', {
        backend,
        budget: 8000 * MB,
        most: 400,
      });
      assert.equal(wrong, 0, `${wrong} wrong values, ${count} tensors`);
      assert.ok(error !== undefined, `${count} tensors of 4 MB fit in 400 MB`);
      assert.match(error.code ?? '', /^EBB_(OUT_OF_MEMORY|DEVICE_ERROR)$/, error.message);
    } finally {
      await browser.close();
    }
  });
}
