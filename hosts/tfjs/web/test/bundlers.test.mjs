// ebb-tfjs/web through bundlers, each bundle run in Chromium. Vite and webpack find the core by its URL in the package and
// put it beside the bundle; with esbuild the user does.
import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { here, install } from '../../runners/install.mjs';
import { launchChromium, newPage, serve } from './browsers.mjs';

const APP = `
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import * as ebb from 'ebb-tfjs/web';
globalThis.outcome = (async () => {
  await tf.ready();
  await ebb.load();
  ebb.reclaim.on();
  for (let i = 0; i < 100; i++) tf.add(tf.ones([100]), 1);
  await new Promise((resolve) => setTimeout(resolve));
  ebb.collect();
  ebb.audit();
  return { live: ebb.memory().live, created: ebb.memory().created };
})();
`;

install();
// The bundlers are the runners'.
const require = createRequire(join(here, 'package.json'));
const folder = mkdtempSync(join(here, 'build-web-'));
const entry = join(folder, 'app.mjs');
writeFileSync(entry, APP);

let browser;
before(async () => {
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** Serves what a bundler has made, and runs it. */
async function runs(out, script) {
  const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const extra = {
    '/index.html': `<!doctype html><script type="module" src="/${script}"></script>`,
  };
  for (const { parentPath, path, name } of files) {
    const file = join(parentPath ?? path, name);
    extra[file.slice(out.length)] = readFileSync(file);
  }
  assert.ok(
    Object.keys(extra).some((path) => path.endsWith('.wasm')),
    'the core is beside the bundle',
  );
  const { server, origin } = await serve(extra, { alone: true });
  const page = await newPage(browser);
  try {
    await page.goto(`${origin}/index.html`);
    await page.waitForFunction('globalThis.outcome !== undefined');
    const { live, created } = await page.evaluate('globalThis.outcome');
    assert.ok(created >= 200);
    assert.ok(live <= 2, `${live} left`);
  } finally {
    await page.close();
    server.close();
  }
}

test('vite', async () => {
  const { build } = await import(require.resolve('vite'));
  const out = join(folder, 'vite');
  await build({
    root: folder,
    logLevel: 'error',
    build: {
      outDir: out,
      target: 'es2022',
      rollupOptions: { input: entry, output: { entryFileNames: 'app.js' } },
    },
  });
  await runs(out, 'app.js');
});

test('webpack', async () => {
  const out = join(folder, 'webpack');
  const settings = {
    mode: 'production',
    target: 'web',
    entry,
    output: { path: out, filename: 'app.js', publicPath: '/' },
    performance: { hints: false },
  };
  await new Promise((resolve, reject) => {
    require('webpack')(settings, (error, stats) =>
      error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve(),
    );
  });
  await runs(out, 'app.js');
});

test('esbuild, the core copied beside the bundle', async () => {
  const out = join(folder, 'esbuild');
  await require('esbuild').build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    outfile: join(out, 'app.js'),
    logLevel: 'silent',
  });
  copyFileSync(require.resolve('ebb-tfjs/web/ebb_core.wasm'), join(out, 'ebb_core.wasm'));
  await runs(out, 'app.js');
});
