// What runs of specs in Node have in common: bundles of them, and processes that run a bundle.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
export const out = join(here, '..', 'build', 'specs');

/** Bundles specs; `more` are further options of esbuild's. */
export async function bundle(entry, name, more = {}) {
  mkdirSync(out, { recursive: true });
  const outfile = join(out, `${name}.cjs`);
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    mainFields: ['module', 'main'],
    keepNames: true,
    ignoreAnnotations: true, // tfjs-core says it has no side effects; its specs need them
    logLevel: 'error',
    ...more,
  });
  return outfile;
}

function run(file, backend, mode) {
  const output = file.replace(/\.cjs$/, `_${backend}_${mode}.json`);
  return new Promise((resolve, reject) => {
    const words = [join(here, 'child.cjs'), file, backend, mode, output];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (text) => (errors += text));
    child.on('exit', (code) => {
      if (code !== 0)
        reject(
          new Error(`specs on ${backend}, reclaim ${mode}: exit ${code}\n${errors.slice(-2000)}`),
        );
      else resolve(JSON.parse(readFileSync(output, 'utf8')));
    });
  });
}

async function timed(file, backend, mode) {
  const started = Date.now();
  const result = await run(file, backend, mode);
  return { ...result, seconds: ((Date.now() - started) / 1000).toFixed(1) };
}

/** Every run of every backend, one for each processor at a time: promises by backend and mode. */
export function start(file, backends, modes) {
  const free = Array.from({ length: availableParallelism() }, () => Promise.resolve());
  const started = {};
  let next = 0;
  for (const backend of backends) {
    started[backend] = {};
    for (const mode of modes) {
      const place = next++ % free.length;
      const done = free[place].then(() => timed(file, backend, mode));
      free[place] = done.catch(() => {}); // whoever awaits the run sees its error
      started[backend][mode] = done;
    }
  }
  return started;
}
