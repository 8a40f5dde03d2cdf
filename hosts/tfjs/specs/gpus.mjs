// tfjs-core's own specs on GPUs, all of them or a share drawn by lot: node specs/gpus.mjs [webgpu,chromium_webgl,...]
//
// What passes without Ebb passes with it. On software GPUs some specs fail as they are: those do not count.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gpuEnvironment } from '../gpu/gpus.mjs';
import { installDawn } from '../gpu/install.mjs';
import { launchChromium, newPage, serve } from '../web/test/browsers.mjs';
import {
  checkClass,
  compareHeld,
  compareMidSpec,
  counts,
  fault,
  faultCount,
  printCounts,
  withoutFailed,
} from './compare.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', 'build', 'specs');
const PLACES = {
  node_webgpu: { run: inNode, backend: 'webgpu', modes: ['off', 'on', 'forced'] },
  chromium_webgl: { run: inChromium, backend: 'webgl', modes: ['off', 'on'] },
  chromium_webgpu: { run: inChromium, backend: 'webgpu', modes: ['off', 'on'] },
};
const CLASSES = { webgl: 'MathBackendWebGL', webgpu: 'WebGPUBackend' };
const SHARE = Number(process.env.EBB_SPECS_SHARE ?? 1);
const SEED = Number(process.env.EBB_SPECS_SEED ?? 4221);
const ONLY = process.env.EBB_SPECS_ONLY ?? '';
/** Of the specs that run, so many pass without Ebb at least; otherwise something else is wrong. */
const MUST_PASS = 0.9;

function bundle(entry, name, settings) {
  const outfile = join(out, name);
  return build({
    entryPoints: [join(here, entry)],
    bundle: true,
    outfile,
    mainFields: ['module', 'main'],
    keepNames: true,
    ignoreAnnotations: true, // tfjs-core says it has no side effects; its specs need them
    logLevel: 'error',
    ...settings,
  }).then(() => outfile);
}

const forPages = {
  platform: 'browser',
  format: 'iife',
  define: { global: 'globalThis' },
  external: ['worker_threads'],
};

async function inNode({ backend }, mode) {
  const output = join(out, `node_${backend}_${mode}.json`);
  const file = join(out, 'gpu_specs.cjs');
  const words = [join(here, 'child.cjs'), file, backend, mode, output];
  await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...gpuEnvironment,
        EBB_SPECS_SHARE: String(SHARE),
        EBB_SPECS_SEED: String(SEED),
      },
    });
    let errors = '';
    child.stderr.on('data', (text) => (errors = (errors + text).slice(-4000)));
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${code}\n${errors}`))));
  });
  return JSON.parse(readFileSync(output, 'utf8'));
}

async function inChromium({ backend }, mode) {
  const { server, origin } = await serve({
    '/specs.html':
      '<!doctype html><script src="/ebb/ebb.js"></script><script src="/page.js"></script>',
    '/page.js': readFileSync(join(out, 'page.js')),
    '/specs.js': readFileSync(join(out, 'gpu_specs.js')),
  });
  const browser = await launchChromium();
  try {
    const page = await newPage(browser);
    await page.goto(`${origin}/specs.html`);
    const options = { backend, mode, seed: SEED, share: SHARE, only: ONLY };
    await page.evaluate((given) => globalThis.beginSpecs(given), options);
    await page.addScriptTag({ url: '/specs.js' });
    await page.evaluate('runSpecs()');
    // No call into the page may take as long as the specs.
    while (!(await page.evaluate('globalThis.specsOutcome !== undefined')))
      await new Promise((resolve) => setTimeout(resolve, 1000));
    const { result, error } = await page.evaluate('specsOutcome');
    if (error !== undefined) throw new Error(error);
    return result;
  } finally {
    await browser.close();
    server.close();
  }
}

async function compareAt(where) {
  const place = PLACES[where];
  const results = {};
  for (const mode of place.modes) {
    const started = Date.now();
    const result = (results[mode] = await place.run(place, mode));
    result.seconds = ((Date.now() - started) / 1000).toFixed(1);
    printCounts(where, mode, result);
    checkClass(result, CLASSES[place.backend]);
  }
  const { specs, passed } = counts(results.off);
  if (passed < MUST_PASS * specs) fault(`${passed} of ${specs} specs pass without Ebb`);
  compareHeld(...withoutFailed(results.off, results.on));
  if (results.forced !== undefined)
    compareMidSpec('forced', ...withoutFailed(results.off, results.forced));
}

const places = process.argv[2]?.split(',') ?? Object.keys(PLACES);
mkdirSync(out, { recursive: true });
if (places.includes('node_webgpu')) installDawn();
await Promise.all([
  bundle('gpu_entry.mjs', 'gpu_specs.cjs', { platform: 'node', format: 'cjs' }),
  bundle('gpu_entry.mjs', 'gpu_specs.js', forPages),
  bundle('page.mjs', 'page.js', forPages),
]);
console.log(`a share of ${SHARE} of the specs, seed ${SEED}`);
for (const where of places) await compareAt(where);
process.exit(faultCount() === 0 ? 0 : 1);
