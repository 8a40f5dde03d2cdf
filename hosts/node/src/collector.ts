// Reaching V8's collector without a command-line flag: `gc` appears in a context made while the flag is
// on, and stays usable after it is off again.
import v8 from 'node:v8';
import vm from 'node:vm';

type Collector = (options?: { type: 'minor'; execution: 'sync' }) => void;

const MINOR = { type: 'minor', execution: 'sync' } as const;

function find(): Collector {
  const exposed = (globalThis as { gc?: Collector }).gc;
  if (typeof exposed === 'function') return exposed;
  v8.setFlagsFromString('--expose-gc');
  try {
    return vm.runInNewContext('gc') as Collector;
  } finally {
    v8.setFlagsFromString('--no-expose-gc');
  }
}

let gc: Collector | undefined;

export function collectMinor(): void {
  (gc ??= find())(MINOR);
}

export function collectMajor(): void {
  (gc ??= find())(); // with any options at all, Node 20 takes it for a minor one
}
