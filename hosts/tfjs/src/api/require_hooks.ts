import { type Hooks, hooks } from '../engine/hooks';
import { EbbError } from '../errors';

/** The hooks, for what cannot wait for TensorFlow.js to appear. */
export function requireHooks(what: string): Hooks {
  const installed = hooks();
  if (installed !== undefined) return installed;
  throw new EbbError(
    'EBB_NO_TFJS',
    `[${what}] TensorFlow.js is not loaded; require '@tensorflow/tfjs-core' (or '@tensorflow/tfjs') before.`,
  );
}
