// tfjs-core's own specs (they come with its package) on each backend. Prints jasmine's counts and compares.
//
//   off     without Ebb
//   on      reclaim on, what a spec made is held until it ends, and collected then: nothing may differ
//   usual   reclaim on, V8 and Ebb collect when they like, as in a user's program
//   forced  reclaim on, collections at random points
//
// In the last two a spec that counts what it has dropped may find it gone (may_differ.mjs).
import { join } from 'node:path';
import {
  checkClass,
  compareHeld,
  compareMidSpec,
  counts,
  fault,
  faultCount,
  printCounts,
} from './compare.mjs';
import { bundle, here, start } from './runs.mjs';

const CLASSES = { cpu: 'MathBackendCPU', wasm: 'BackendWasm', ebb: 'EbbBackend' };
const MODES = ['off', 'on', 'usual', 'forced'];
/** Where collections come in the middle of specs. */
const MID_SPEC = ['usual', 'forced'];
/** What the forced run gives back at least: it must not pass because nothing was collected. */
const FORCED_AT_LEAST = 300;
/** Gradients that are the core's at least, on `ebb`, unless EBB_TAPE=0 says that none is. */
const NATIVE_AT_LEAST = process.env.EBB_TAPE === '0' ? 0 : 500;
/** Backends that pass every spec there is. */
const WHOLE = ['cpu', 'ebb'];
const SPECS = 4232;
const PENDING = 5;

function reportFailures({ specs }) {
  for (const [name, { status, why }] of Object.entries(specs)) {
    if (status === 'failed') fault(`${name}\n    ${why.join('\n    ')}`);
  }
}

function checkTape({ tape: { native, theirs } }) {
  const others = Object.values(theirs).reduce((sum, count) => sum + count, 0);
  console.log(`  gradients: ${native} native, ${others} by TensorFlow.js`);
  if (native < NATIVE_AT_LEAST) fault(`only ${native} gradients were native`);
  if (NATIVE_AT_LEAST === 0 && native > 0) fault(`${native} gradients were native`);
}

const file = await bundle(join(here, 'entry.mjs'), 'specs');
if (process.argv[2] === '--bundle') process.exit(0); // for tools/pack_cuda_test.sh
const backends = process.argv[2] ? process.argv[2].split(',') : Object.keys(CLASSES);
const runs = start(file, backends, MODES);
for (const backend of backends) {
  const results = {};
  for (const mode of MODES) {
    const result = (results[mode] = await runs[backend][mode]);
    printCounts(backend, mode, result);
    checkClass(result, CLASSES[backend]);
    if (backend === 'ebb') checkTape(result);
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
