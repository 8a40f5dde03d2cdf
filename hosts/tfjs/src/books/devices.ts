// One device of the core for each TensorFlow.js backend, process-wide, so that all workers draw on the same budget.
import type { Backend, Engine } from '../engine/tfjs';
import { host } from '../host';

/** Of what the process may use, the share that tensors get unless the user says otherwise. */
const DEFAULT_SHARE = 0.5;
const WASM_LIMIT = 3 * 2 ** 30;

const opened = new Map<string, number>();

/** The budget of a backend for which the user chose none. */
export function defaultBudget(backend: string): number {
  const gpu = backend.startsWith('ebb-cuda') ? host().gpuBudget() : 0;
  if (gpu > 0) return gpu;
  const bytes = Math.floor(host().memoryLimit() * DEFAULT_SHARE);
  return backend === 'wasm' ? Math.min(bytes, WASM_LIMIT) : bytes;
}

/** The budget of an engine's backend. */
export function budgetOf(engine: Engine | undefined): number {
  return host().budget() || defaultBudget(engine?.backendName ?? '');
}

function nameOf(engine: Engine, backend: Backend): string {
  for (const name in engine.registry) {
    if (engine.registry[name] === backend) return name;
  }
  return engine.backendName ?? 'unknown';
}

/** The device on which a backend's data is booked that is not Ebb's own: on `ebb`, text. */
export function foreignDevice(engine: Engine, backend: Backend): number {
  const name = nameOf(engine, backend);
  let device = opened.get(name);
  if (device === undefined) {
    device = host().device(`tfjs:${name}`, defaultBudget(name));
    opened.set(name, device);
  }
  return device;
}

/** Gives a backend's device its budget; says which device it is, 0 for one of Ebb's own. */
export function beginBudget(engine: Engine, backend: Backend): number {
  if (backend.runtime === undefined) return foreignDevice(engine, backend);
  host().limitOwn(backend.runtime.device, defaultBudget(nameOf(engine, backend)));
  return 0;
}
