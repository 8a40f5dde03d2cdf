// Registers backend `ebb` and its kernels with TensorFlow.js.
import { engine, findBackendFactory, registerBackend, registerKernel } from '@tensorflow/tfjs-core';
import { runDirectly } from '../engine/direct';
import type { Engine } from '../engine/tfjs';
import { EbbError } from '../errors';
import { host } from '../host';
import '../node/addon';
import { EbbBackend } from './backend';
import { KERNELS } from './kernels';
import { installOptimizers } from './optimizers';
import { asKernelFunc } from './recipe';
import { TABLE_HASH } from './table';
import { installTape } from './tape';

export const NAME = 'ebb';
/** That of tfjs-node's backend: above cpu and wasm, so that it is the one that is chosen. */
const PRIORITY = 3;

function checkTable(): void {
  const built = host().tableHash();
  if (built === TABLE_HASH) return;
  throw new EbbError(
    'EBB_UNSUPPORTED',
    `[ebb-tfjs/backend] The addon's table of operations is ${built}, not ${TABLE_HASH}; run 'npm run build'.`,
  );
}

function isRegistered(backendName: string): boolean {
  return (findBackendFactory(backendName) ?? null) !== null;
}

function registerKernels(backendName: string): void {
  for (const [kernelName, kernel] of Object.entries(KERNELS)) {
    registerKernel({ kernelName, backendName, kernelFunc: asKernelFunc(kernel) });
  }
}

/** Registers a backend and all kernels under a name; false if it was there already. */
export function registerAs(backendName: string, make: () => EbbBackend, priority: number): boolean {
  installOptimizers(); // another copy of TensorFlow.js may have the engine, and optimizers of its own
  if (isRegistered(backendName)) return false;
  checkTable();
  registerKernels(backendName);
  installTape();
  const whenMade = (): EbbBackend => {
    runDirectly(engine() as unknown as Engine);
    return make();
  };
  return registerBackend(backendName, whenMade, priority);
}

/** The same for one that few programs choose, and by name only: its kernels are registered when it is made. */
export function registerForLater(backendName: string, make: () => EbbBackend): void {
  if (isRegistered(backendName)) return;
  const whenMade = (): EbbBackend => {
    const backend = make();
    registerKernels(backendName);
    return backend;
  };
  registerBackend(backendName, whenMade, 0);
}

export function register(): void {
  registerAs(NAME, () => new EbbBackend(), PRIORITY);
}
