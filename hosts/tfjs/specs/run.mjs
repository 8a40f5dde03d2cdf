// tfjs-core's own specs (they come with its package) on each backend. Prints jasmine's counts and compares.
//
//   off     without Ebb
//   on      reclaim on, what a spec made is held until it ends, and collected then: nothing may differ
//   usual   reclaim on, V8 and Ebb collect when they like, as in a user's program
//   forced  reclaim on, collections at random points
//
// In the last two a spec that counts what it has dropped may find it gone (may_differ.mjs).
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  checkClass,
  compareHeld,
  compareMidSpec,
  counts,
  fault,
  faultCount,
  printCounts,
} from './compare.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', 'build', 'specs');
const CLASSES = { cpu: 'MathBackendCPU', wasm: 'BackendWasm', ebb: 'EbbBackend' };
const MODES = ['off', 'on', 'usual', 'forced'];
/** Where collections come in the middle of specs. */
const MID_SPEC = ['usual', 'forced'];
/** What the forced run gives back at least: it must not pass because nothing was collected. */
const FORCED_AT_LEAST = 300;
/** Backends that pass every spec there is. */
const WHOLE = ['cpu', 'ebb'];
const SPECS = 4232;
const PENDING = 5;
async function bundle() {
  mkdirSync(out, { recursive: true });
  const outfile = join(out, 'specs.cjs');
  await build({
    entryPoints: [join(here, 'entry.mjs')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    mainFields: ['module', 'main'],
    keepNames: true,
    ignoreAnnotations: true, // tfjs-core says it has no side effects; its specs need them
    logLevel: 'error',
  });
  return outfile;
}

function run(file, backend, mode) {
  const output = join(out, `${backend}_${mode}.json`);
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

/** Every run of every backend, one for each processor at a time: promises by backend and mode. */
function start(file, backends) {
  const free = Array.from({ length: availableParallelism() }, () => Promise.resolve());
  const started = {};
  let next = 0;
  for (const backend of backends) {
    started[backend] = {};
    for (const mode of MODES) {
      const place = next++ % free.length;
      const done = free[place].then(() => timed(file, backend, mode));
      free[place] = done.catch(() => {}); // whoever awaits the run sees its error
      started[backend][mode] = done;
    }
  }
  return started;
}

async function timed(file, backend, mode) {
  const started = Date.now();
  const result = await run(file, backend, mode);
  return { ...result, seconds: ((Date.now() - started) / 1000).toFixed(1) };
}

function reportFailures({ specs }) {
  for (const [name, { status, why }] of Object.entries(specs)) {
    if (status === 'failed') fault(`${name}\n    ${why.join('\n    ')}`);
  }
}

const file = await bundle();
if (process.argv[2] === '--bundle') process.exit(0); // for tools/pack_cuda_test.sh
const backends = process.argv[2] ? process.argv[2].split(',') : Object.keys(CLASSES);
const runs = start(file, backends);
for (const backend of backends) {
  const results = {};
  for (const mode of MODES) {
    const result = (results[mode] = await runs[backend][mode]);
    printCounts(backend, mode, result);
    checkClass(result, CLASSES[backend]);
    if (WHOLE.includes(backend)) {
      const { specs, failed, pending } = counts(result);
      if (specs !== SPECS) fault(`${specs} specs, not ${SPECS}`);
      if (pending !== PENDING) fault(`${pending} pending, not ${PENDING}`);
      if (mode === 'off' && failed > 0) reportFailures(result);
    }
  }
  compareHeld(results.off, results.on);
  for (const mode of MID_SPEC) compareMidSpec(mode, results.off, results[mode]);
  const { reclaimed } = results.forced.books;
  if (reclaimed < FORCED_AT_LEAST)
    fault(`only ${reclaimed} tensors reclaimed by forced collections`);
}
process.exit(faultCount() === 0 ? 0 : 1);
