// The memory of the browser's GPU process itself, which tells whether what comes back in the books comes back at all.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchChromium, openPage, serve } from './browsers.mjs';
import { gpuProcess, whileWatched } from './processes.mjs';

const MB = 2 ** 20;
const BUDGET = 100 * MB;
/** Each makes 8 MB a round: 240 MB, then 480 MB more. */
const FIRST = 30;
const MORE = 60;

let server, origin;
before(async () => {
  ({ server, origin } = await serve());
});
after(() => server?.close());

async function mostOf(pid, work) {
  const { most } = await whileWatched(pid, work);
  return most;
}

for (const backend of ['webgl', 'webgpu']) {
  test(`${backend}: the GPU's process does not grow with what a page makes and drops`, async () => {
    const browser = await launchChromium();
    try {
      const { run } = await openPage(browser, origin);
      const careless = (rounds) =>
        run('careless', { backend, budget: BUDGET, rounds, wait: 'data' });
      const pid = gpuProcess(browser);
      const first = await mostOf(pid, () => careless(FIRST));
      const then = await mostOf(pid, () => careless(MORE));
      const grown = (then - first) / MB;
      assert.ok(grown <= 150, `${first / MB} MB, then ${then / MB} MB`);
    } finally {
      await browser.close();
    }
  });
}
