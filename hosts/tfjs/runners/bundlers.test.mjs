// The package through the bundlers, as docs/node.md says: it and TensorFlow.js stay outside of the bundle, or the bundle is
// told where the addon is.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { here } from './install.mjs';

const require = createRequire(import.meta.url);
const folder = mkdtempSync(join(here, 'build-'));
after(() => rmSync(folder, { recursive: true }));
const entry = join(here, 'cases', 'app.mjs');
const OUTSIDE = [/^ebb-tfjs/, /^@tensorflow\//];
const addon = fileURLToPath(new URL('../build/ebb_node.node', import.meta.url));

function runs(file, env = {}) {
  const { stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  assert.equal(stdout.trim().split('\n').at(-1), 'ebb 64 true', stderr);
  assert.doesNotMatch(stderr, /already registered/, 'two copies of TensorFlow.js');
}

const esbuild = (name, external) =>
  require('esbuild').build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    external,
    outfile: join(folder, name),
    logLevel: 'silent',
  });

test('esbuild', async () => {
  await esbuild('esbuild.cjs', ['ebb-tfjs', '@tensorflow/*']);
  runs(join(folder, 'esbuild.cjs'));
});

test('esbuild, everything in one file', async () => {
  await esbuild('whole.cjs', []);
  runs(join(folder, 'whole.cjs'), { EBB_ADDON: addon });
});

test('webpack', async () => {
  const outside = OUTSIDE.map(
    (pattern) =>
      ({ request }, done) =>
        pattern.test(request) ? done(null, `commonjs ${request}`) : done(),
  );
  const settings = {
    mode: 'production',
    target: 'node',
    entry,
    output: { path: folder, filename: 'webpack.cjs' },
    externals: outside,
  };
  await new Promise((resolve, reject) => {
    require('webpack')(settings, (error, stats) =>
      error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve(),
    );
  });
  runs(join(folder, 'webpack.cjs'));
});

test('rollup', async () => {
  const bundle = await require('rollup').rollup({ input: entry, external: OUTSIDE });
  await bundle.write({ file: join(folder, 'rollup.mjs'), format: 'es' });
  await bundle.close();
  runs(join(folder, 'rollup.mjs'));
});

test('ncc', () => {
  const ncc = join(here, 'node_modules', '.bin', 'ncc');
  const outside = ['ebb-tfjs', 'ebb-tfjs/backend'].flatMap((name) => ['-e', name]);
  const out = join(folder, 'ncc');
  const { status, stderr } = spawnSync(
    process.execPath,
    [ncc, 'build', entry, '-o', out, ...outside],
    { cwd: here, encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  runs(join(out, 'index.mjs'));
});
