// The page of `make web-demo`, driven as a person would: reclaim on, off, on again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { driveDemo, serveDemo } from '../demo/pages.mjs';
import { launchChromium, newPage } from './browsers.mjs';

const MB = 2 ** 20;
let browser, server, origin;
before(async () => {
  ({ server, origin } = await serveDemo());
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  server?.close();
});

for (const [backend, where] of [
  ['webgpu', 'page'],
  ['webgl', 'worker'],
]) {
  test(`the demo on ${backend} in a ${where}`, async () => {
    const page = await newPage(browser);
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    const readings = await driveDemo(page, origin, { backend, where, steps: [3, 6, 3] });
    assert.deepEqual(errors, []);
    const off = readings.filter(({ reclaim }) => !reclaim);
    const grown = off.at(-1).liveBytes - off[0].liveBytes;
    assert.ok(grown >= (off.length - 1) * 12 * MB, `${grown / MB} MB in ${off.length} steps, off`);
    const last = readings.at(-1);
    assert.ok(last.reclaim);
    assert.ok(last.liveBytes < off.at(-1).liveBytes / 2, 'switched on again it comes back');
    assert.ok(last.allocated <= 1.5 * last.budget, `${last.allocated / MB} MB`);
    assert.ok(readings[11].loss < readings[0].loss, 'it learns'); // the same batch, a round later
    assert.match(await page.$eval('#figures', (figures) => figures.textContent), /given back/);
    assert.ok((await page.$$('#chart polyline')).length === 2);
    assert.ok((await page.$$('#chart rect.off')).length >= 1);
    await page.close();
  });
}
