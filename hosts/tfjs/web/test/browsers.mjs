// Browsers for tests: Debian's, without a screen, with GPUs made of software.
import { createServer } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import puppeteer from 'puppeteer-core';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, '..', '..', 'dist', 'web');

const CHROMIUM = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--enable-features=Vulkan',
  '--ignore-gpu-blocklist',
];
/** How long a busy machine may take to start a browser, load a page, or answer: a limit for what hangs, in ms. */
const PATIENCE = 300_000;
const LAVAPIPE = '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json';

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

let bundled;
/** TensorFlow.js as one script. */
async function tfScript() {
  bundled ??= build({
    entryPoints: [join(here, 'tf_entry.mjs')],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    globalName: 'tf',
    platform: 'browser',
    logLevel: 'error',
  });
  return (await bundled).outputFiles[0].contents;
}

/** The file that a path names, or what was given for it. */
async function contents(path, extra, alone) {
  if (path in extra) return extra[path];
  if (alone) return undefined;
  if (path === '/tf.js') return tfScript();
  // A worker's script is at the root, and its core beside it.
  if (path === '/ebb_core.wasm') return readFileSync(join(dist, 'ebb_core.wasm'));
  const file = path.startsWith('/ebb/') ? join(dist, path.slice(5)) : join(here, path.slice(1));
  return existsSync(file) ? readFileSync(file) : undefined;
}

/** Serves the tests' files on loopback; `extra`: more of them, by path; `alone`: nothing but those; `port`: a certain one. */
export async function serve(extra = {}, { alone = false, port = 0 } = {}) {
  if (!alone) await tfScript(); // no page waits for it
  const server = createServer(async ({ url }, response) => {
    const path = new URL(url, 'http://localhost').pathname;
    const found = path.includes('..') ? undefined : await contents(path, extra, alone);
    response.statusCode = found === undefined ? 404 : 200;
    response.setHeader('content-type', TYPES[extname(path)] ?? 'text/plain');
    response.end(found);
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

export function launchChromium(...flags) {
  return puppeteer.launch({
    executablePath: '/usr/bin/chromium',
    headless: true,
    args: [...CHROMIUM, ...flags],
    timeout: PATIENCE,
    protocolTimeout: PATIENCE,
  });
}

export function launchFirefox() {
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    headless: true,
    env: { ...process.env, VK_DRIVER_FILES: LAVAPIPE, HOME: process.env.HOME ?? '/root' },
    extraPrefsFirefox: { 'dom.webgpu.enabled': true, 'gfx.webgpu.ignore-blocklist': true },
    timeout: PATIENCE,
    protocolTimeout: PATIENCE,
  });
}

/** A page of any kind. */
export async function newPage(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  return page;
}

/** A page in which programs of programs.js are run; `run` gives the result of one, and what the page said. */
export async function openPage(browser, origin, runner = 'runProgram') {
  const page = await newPage(browser);
  const said = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  await page.goto(`${origin}/page.html`);
  const run = async (name, options) => {
    const { result, error } = await page.evaluate((how, call) => globalThis[how](call), runner, {
      name,
      options,
    });
    if (error !== undefined) throw new Error(`${error}\n${said.join('\n')}`);
    return { ...result, said };
  };
  return { page, run };
}

/** Such a page, or a worker of one. */
export function openPlace(browser, origin, where) {
  return openPage(browser, origin, where === 'worker' ? 'runInWorker' : 'runProgram');
}

/** Runs one in a new page, or in a worker of one. */
export async function runIn(browser, origin, where, name, options) {
  const { page, run } = await openPlace(browser, origin, where);
  try {
    return await run(name, options);
  } finally {
    await page.close();
  }
}
