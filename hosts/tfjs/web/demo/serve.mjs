// `make web-demo`: serves the careless page on loopback, until interrupted. With a file name as argument it drives the page
// in Chromium, reclaim off for a while and then on, takes a picture of it, and ends.
import { launchChromium, newPage } from '../test/browsers.mjs';
import { driveDemo, serveDemo } from './pages.mjs';

const [picture] = process.argv.slice(2);
const { server, origin } = await serveDemo(picture === undefined ? 8765 : 0);
if (picture === undefined) {
  console.log(`A careless page, with Ebb and without: ${origin}/index.html   (Ctrl-C ends it)`);
} else {
  const browser = await launchChromium();
  const page = await newPage(browser);
  await page.setViewport({ width: 1040, height: 820, deviceScaleFactor: 1.5 });
  await driveDemo(page, origin, { steps: [8, 24, 20] });
  await page.screenshot({ path: picture });
  await browser.close();
  server.close();
}
