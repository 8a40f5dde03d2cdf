// Reaching V8's collector without a command-line flag: `gc` appears in a context made while the flag is
// on, and stays usable after it is off again.
import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import { EbbError } from '../errors';

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
  throw new EbbError(
    'EBB_UNSUPPORTED',
    '[ebb-tfjs] V8 does not let its collector be called; start Node with --expose-gc.',
  );
}

let gc: Collector | undefined;

/** What a user may have told V8 about threads in scavenges: it stays so. V8 does not say how its flags are set. */
const THREADS =
  /^--(no[-_]?)?(parallel[-_]scavenge|concurrent[-_]array[-_]buffer[-_]sweeping|single[-_]threaded([-_]gc)?|predictable([-_]gc[-_]schedule)?)$/;
const asTold = process.execArgv.some((word) => THREADS.test(word));

const ALONE = ['--no-parallel-scavenge', '--no-concurrent-array-buffer-sweeping'];
const TOGETHER = ['--parallel-scavenge', '--concurrent-array-buffer-sweeping'];

/** Setting a flag takes microseconds, so they stay as they are for a while: a loop collects again soon. */
const ALONE_MS = 100;
let alone = false;

function setAlone(value: boolean): void {
  for (const flag of value ? ALONE : TOGETHER) v8.setFlagsFromString(flag);
  alone = value;
}

/**
 * On this thread alone: there is little to copy, and waking V8's other threads takes longer than they save, on a
 * busy machine many times as long.
 */
export function collectMinor(): void {
  gc ??= find();
  if (asTold) {
    gc(MINOR);
    return;
  }
  if (!alone) {
    setAlone(true);
    if (isMainThread) setTimeout(setAlone, ALONE_MS, false).unref();
  }
  try {
    gc(MINOR);
  } finally {
    // Flags are the process's, and a worker may be gone before its timer comes.
    if (!isMainThread) setAlone(false);
  }
}

export function collectMajor(): void {
  (gc ??= find())(); // with any options at all, Node 20 takes it for a minor one
}
