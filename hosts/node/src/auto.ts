// `node --import ebb-tfjs/auto app.js`: reclaim from the start, settings from the environment.
import { budget, report, reclaim, trace } from './index';
import { onWhenReady } from './reclaim';
import { isMainThread } from 'node:worker_threads';

if (process.env.EBB_BUDGET)
  budget(process.env.EBB_BUDGET, { strict: process.env.EBB_STRICT === '1' });
if (process.env.EBB_TRACE === '1') trace.on();
if (!reclaim.isOn) onWhenReady({ variables: process.env.EBB_VARIABLES !== '0' });
if (process.env.EBB_REPORT && isMainThread) {
  const top = Number(process.env.EBB_REPORT) || 10;
  process.on('exit', () => process.stderr.write(`${report({ top, everywhere: true })}\n`));
}
