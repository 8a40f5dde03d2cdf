// The demo's files, and how it is driven from outside.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '../test/browsers.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const files = readdirSync(here).filter((name) => !name.endsWith('.mjs'));

/** On a port of the caller's choice, or any. */
export function serveDemo(port = 0) {
  const extra = Object.fromEntries(
    files.map((name) => [`/${name}`, readFileSync(join(here, name))]),
  );
  return serve(extra, { port });
}

const after = (page, count) =>
  page.waitForFunction((steps) => globalThis.demoReadings().length >= steps, { timeout: 0 }, count);

const taken = (page) => page.evaluate(() => globalThis.demoReadings().length);

/** Trains with reclaim on, off and on again, so many steps each. Gives the readings of all steps. */
export async function driveDemo(page, origin, { backend = 'webgpu', where = 'page', steps }) {
  await page.goto(`${origin}/index.html`);
  await page.select('#backend', backend);
  await page.select('#where', where);
  await page.click('#start');
  for (const [i, more] of steps.entries()) {
    if (i > 0) await page.click('.switch');
    await after(page, (await taken(page)) + more);
  }
  await page.click('#stop');
  await page.waitForSelector('#start:not(:disabled)', { timeout: 0 });
  return page.evaluate(() => globalThis.demoReadings());
}
