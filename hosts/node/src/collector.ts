// Reaching V8's collector without a command-line flag: `gc` appears in a context made while the flag is
// on, and stays usable after it is off again.
import v8 from 'node:v8';
import vm from 'node:vm';
import { EbbError } from './errors';

type Collector = (options?: { type: 'minor'; execution: 'sync' }) => void;

const MINOR = { type: 'minor', execution: 'sync' } as const;

/** Flags are the process's: another worker that does the same may take ours away in between. */
const TRIES = 1000;

function find(): Collector {
  const exposed = (globalThis as { gc?: Collector }).gc;
  if (typeof exposed === 'function') return exposed;
  for (let i = 0; i < TRIES; i++) {
    v8.setFlagsFromString('--expose-gc');
    const found = vm.runInNewContext('globalThis.gc') as Collector | undefined;
    v8.setFlagsFromString('--no-expose-gc');
    if (typeof found === 'function') return found;
  }
  throw new EbbError('EBB_UNSUPPORTED', '[ebb-tfjs] V8 does not let its collector be called.');
}

let gc: Collector | undefined;

/** What a user may have told V8 about threads in scavenges: it stays so. V8 does not say how its flags are set. */
const THREADS =
  /^--(no[-_]?)?(parallel[-_]scavenge|single[-_]threaded([-_]gc)?|predictable([-_]gc[-_]schedule)?)$/;
const asTold = process.execArgv.some((word) => THREADS.test(word));

/**
 * On this thread alone: there is little to copy, and waiting for V8's other threads takes longer than they save,
 * on a busy machine many times as long.
 */
export function collectMinor(): void {
  gc ??= find();
  if (asTold) {
    gc(MINOR);
    return;
  }
  v8.setFlagsFromString('--no-parallel-scavenge');
  try {
    gc(MINOR);
  } finally {
    v8.setFlagsFromString('--parallel-scavenge');
  }
}

export function collectMajor(): void {
  (gc ??= find())(); // with any options at all, Node 20 takes it for a minor one
}
