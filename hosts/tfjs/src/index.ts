/**
 * Ebb for TensorFlow.js: gives back the memory of tensors that nobody can reach any more, under whatever
 * backend is used.
 *
 * ```js
 * const ebb = require('ebb-tfjs');
 * ebb.reclaim.on();
 * ```
 */
import { onWhenReady } from './api/reclaim';
import { host } from './host';
import './node/addon';
import { applyEnvironment, flag } from './node/settings';

export * from './common';
export { snapshot } from './api/memory';
export { metrics, METRICS_TYPE } from './api/metrics';
export { type Meter, openTelemetry } from './api/open_telemetry';
export {
  record,
  recorded,
  type RecordedFunction,
  type RecordedInfo,
  type RecordedModel,
  type RecordOptions,
} from './api/record';
export {
  recording,
  type RecordingMode,
  type RecordingOptions,
  type RecordingState,
} from './api/recording';
export { tape, type TapeInfo } from './api/tape';
export { holders, type PlaceHolder, why, type Why, type WhyOptions } from './api/why';

// The switch is the process's: a worker begun while it is on reclaims as well.
if (flag('EBB_RECLAIM')) applyEnvironment();
else if (host().reclaiming()) onWhenReady({ variables: flag('EBB_VARIABLES', true) });
