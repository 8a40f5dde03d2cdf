// node page.cjs URL PICTURE FOLDER: opens the tab "Device memory" in headless Chromium, checks what it shows and takes a
// picture of it. FOLDER has playwright-core in its node_modules.
const [url, picture, folder] = process.argv.slice(2);
const { chromium } = require(require.resolve('playwright-core', { paths: [folder] }));

async function main() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.waitForTimeout(2500); // a report of each executor's
    await page.goto(url);
    const active = await page.textContent('.navbar-nav .active');
    const rows = await page.$$eval('#ebb-executors tbody tr', (all) => all.length);
    const lines = await page.textContent('#ebb-sites');
    const kept = await page.$$eval('#ebb-kept tbody tr', (all) => all.length);
    if (!active.includes('Device memory') || rows < 2 || !lines.includes('Classifier') || kept < 1 || errors.length) {
      throw new Error(`the page shows ${rows} executors, ${kept} tasks, tab ${active}, errors ${errors}`);
    }
    await page.screenshot({ path: picture, fullPage: true });
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
