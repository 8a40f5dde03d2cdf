// Whether pressing makes this browser collect. Where a new version fails here, src/web/pressure.ts is the place to look:
// memory still comes back by finalizers, but no budget is kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchChromium, launchFirefox, runIn, serve } from './browsers.mjs';

const TURNS = 20;
const BROWSERS = { Chromium: launchChromium, Firefox: launchFirefox };

for (const [name, launch] of Object.entries(BROWSERS)) {
  test(`${name} collects when it is pressed, in pages and workers`, async () => {
    const { server, origin } = await serve();
    const browser = await launch();
    try {
      const version = await browser.version();
      for (const where of ['page', 'worker']) {
        const options = { backend: 'cpu', turns: TURNS };
        const { asked, worked, pushes, live } = await runIn(
          browser,
          origin,
          where,
          'canaries',
          options,
        );
        const figures = `${version}, ${where}: ${worked} of ${asked} in ${pushes} pushes`;
        console.log(`note: ${figures}`);
        assert.ok(worked >= 0.9 * asked, figures);
        assert.ok(live <= 2, `${live} left; ${figures}`);
      }
    } finally {
      await browser.close();
      server.close();
    }
  });
}
