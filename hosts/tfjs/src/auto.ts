// `node --import ebb-tfjs/auto app.js`: reclaim from the start, settings from the environment.
import { isMainThread } from 'node:worker_threads';
import { isThere, missing } from './node/addon';
import { applyEnvironment } from './node/settings';

if (isThere()) applyEnvironment();
// The program did not ask for Ebb: it runs as it would without.
else if (isMainThread)
  process.emitWarning(`Nothing is reclaimed: ${missing()}.`, {
    type: 'EbbWarning',
    code: 'EBB_UNSUPPORTED',
  });
