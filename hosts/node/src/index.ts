/**
 * Ebb for TensorFlow.js: gives back the memory of tensors that nobody can reach any more, under whatever
 * backend is used.
 *
 * ```js
 * const ebb = require('ebb-tfjs');
 * ebb.reclaim.on();
 * ```
 */
import { native } from './native';
import { onWhenReady } from './reclaim';
import { applyEnvironment, flag } from './settings';

export { budget, type BudgetOptions, trim } from './budget';
export { collect } from './collect';
export { EbbError } from './errors';
export { expectNoLeaks, type LeakOptions } from './leaks';
export {
  audit,
  memory,
  type Memory,
  type MemoryOptions,
  report,
  type ReportOptions,
  snapshot,
} from './memory';
export { reclaim, type ReclaimOptions } from './reclaim';
export { tidy } from './tidy';
export { trace, type TraceOptions } from './trace';

// The switch is the process's: a worker begun while it is on reclaims as well.
if (flag('EBB_RECLAIM')) applyEnvironment();
else if (native().reclaiming()) onWhenReady({ variables: flag('EBB_VARIABLES', true) });
