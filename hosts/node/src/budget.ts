// Budgets: one device of the core for each TensorFlow.js backend, process-wide, so that all workers draw
// on the same one.
import { badArgument, checkOptions, EbbError } from './errors';
import { native } from './native';
import { type Backend, currentEngine, type Engine } from './tfjs';

export interface BudgetOptions {
  /** Beyond the budget throw instead of warning once and going on. */
  strict?: boolean;
}

/** Of what the process may use, the share that tensors get unless the user says otherwise. */
const DEFAULT_SHARE = 0.5;
const WASM_LIMIT = 3 * 2 ** 30;

const opened = new Map<string, number>();
let known = new WeakMap<Backend, number>();

export function parseBytes(size: number | string, what = 'budget'): number {
  if (typeof size === 'number') {
    if (Number.isFinite(size) && size > 0) return Math.floor(size);
  } else if (typeof size === 'string') {
    try {
      const bytes = native().parseBytes(size);
      if (bytes > 0) return bytes;
    } catch (error) {
      if ((error as EbbError).code !== 'EBB_INVALID_ARGUMENT') throw error;
    }
  }
  throw badArgument(what, size, "a positive number of bytes, or text such as '2GB' or '512 MiB'");
}

function defaultFor(backend: string): number {
  const gpu = backend.startsWith('ebb-cuda') ? native().gpuBudget() : 0;
  if (gpu > 0) return gpu;
  const bytes = Math.floor(native().memoryLimit() * DEFAULT_SHARE);
  return backend === 'wasm' ? Math.min(bytes, WASM_LIMIT) : bytes;
}

/** Limits what tensors may hold, in the whole process; without a size, says what the limit is. */
export function budget(size?: number | string, options: BudgetOptions = {}): number {
  checkOptions('budget', options, 'strict');
  if (size === undefined)
    return native().budget() || defaultFor(currentEngine()?.backendName ?? '');
  const { strict = false } = options;
  const bytes = parseBytes(size);
  native().setBudget(bytes, strict);
  return bytes;
}

/**
 * Gives memory that the backends `ebb` and `ebb-cuda` keep for reuse back to the system, at most `size` of it; says how
 * many bytes went back. What is dead goes first: call `collect()` before, if nobody else does.
 */
export function trim(size: number | string = Number.MAX_SAFE_INTEGER): number {
  return native().trim(parseBytes(size, 'trim'));
}

function nameOf(engine: Engine, backend: Backend): string {
  for (const name in engine.registry) {
    if (engine.registry[name] === backend) return name;
  }
  return engine.backendName ?? 'unknown';
}

/** The core's device for a backend; `fresh` is called for one that was not seen before. */
export function deviceOf(
  engine: Engine,
  backend: Backend,
  fresh: (device: number) => void,
): number {
  const device = known.get(backend);
  if (device !== undefined) return device;
  const name = nameOf(engine, backend);
  let id = opened.get(name);
  if (id === undefined) {
    id = native().device(`tfjs:${name}`, defaultFor(name));
    opened.set(name, id);
  }
  known.set(backend, id);
  fresh(id);
  return id;
}

export function forgetBackends(): void {
  known = new WeakMap();
}
