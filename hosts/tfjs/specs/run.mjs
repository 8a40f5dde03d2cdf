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
import { excuse } from './may_differ.mjs';

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

function counts({ specs }) {
  const all = Object.values(specs);
  const of = (status) => all.filter((spec) => spec.status === status).length;
  return { specs: all.length, passed: of('passed'), failed: of('failed'), pending: of('pending') };
}

/** Names of the specs whose outcome differs from the run without Ebb. */
function differences(off, other) {
  const names = new Set([...Object.keys(off.specs), ...Object.keys(other.specs)]);
  return [...names].filter((name) => off.specs[name]?.status !== other.specs[name]?.status);
}

let bad = 0;
function fault(text) {
  bad++;
  console.log(`  FAULT ${text}`);
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
    const { specs, passed, failed, pending } = counts(result);
    const { seconds } = result;
    const extra = result.books
      ? `; ${result.books.created} tensors, ${result.books.reclaimed} reclaimed, ${result.collections} collections forced`
      : '';
    console.log(
      `${backend}, reclaim ${mode}: ${specs} specs, ${passed} passed, ${failed} failed, ${pending} pending (${seconds} s)${extra}`,
    );
    if (Object.keys(result.classes).join() !== CLASSES[backend]) {
      fault(`ran on ${JSON.stringify(result.classes)}, not on ${CLASSES[backend]}`);
    }
    if (WHOLE.includes(backend)) {
      if (specs !== SPECS) fault(`${specs} specs, not ${SPECS}`);
      if (pending !== PENDING) fault(`${pending} pending, not ${PENDING}`);
      if (mode === 'off' && failed > 0) reportFailures(result);
    }
  }
  for (const name of differences(results.off, results.on)) {
    fault(`differs with reclaim on: ${name}\n    ${results.on.specs[name]?.why.join('\n    ')}`);
  }
  for (const mode of MID_SPEC) {
    for (const name of differences(results.off, results[mode])) {
      const why = results[mode].specs[name]?.why ?? [];
      const reason = excuse(name, why);
      if (reason) console.log(`  differs, as it may (${mode}): ${name}: ${reason}`);
      else fault(`differs (${mode}): ${name}\n    ${why.join('\n    ')}`);
    }
  }
  const { reclaimed } = results.forced.books;
  if (reclaimed < FORCED_AT_LEAST)
    fault(`only ${reclaimed} tensors reclaimed by forced collections`);
}
process.exit(bad === 0 ? 0 : 1);
