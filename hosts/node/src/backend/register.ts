// Registers backend `ebb` and its kernels with TensorFlow.js.
import { findBackendFactory, registerBackend, registerKernel } from '@tensorflow/tfjs-core';
import { EbbError } from '../errors';
import { native } from '../native';
import { EbbBackend } from './backend';
import { asKernelFunc } from './kernel';
import { KERNELS } from './kernels';
import type { NativeRuntime } from './runtime';
import { TABLE_HASH } from './table';

export const NAME = 'ebb';
/** That of tfjs-node's backend: above cpu and wasm, so that it is the one that is chosen. */
const PRIORITY = 3;

function checkTable(): void {
  const built = (native() as unknown as NativeRuntime).tableHash();
  if (built === TABLE_HASH) return;
  throw new EbbError(
    'EBB_UNSUPPORTED',
    `[ebb-tfjs/backend] The addon's table of operations is ${built}, not ${TABLE_HASH}; build both again.`,
  );
}

export function register(): void {
  if (findBackendFactory(NAME) !== null && findBackendFactory(NAME) !== undefined) return;
  checkTable();
  for (const [kernelName, kernel] of Object.entries(KERNELS)) {
    registerKernel({ kernelName, backendName: NAME, kernelFunc: asKernelFunc(kernel) });
  }
  registerBackend(NAME, () => new EbbBackend(), PRIORITY);
}
