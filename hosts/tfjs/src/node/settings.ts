// What the environment asks for, where reclaim is switched on from outside of the program; docs/node.md lists it.
import { isMainThread } from 'node:worker_threads';
import { budget } from '../api/budget';
import { report } from '../api/memory';
import { onWhenReady } from '../api/reclaim';
import { trace } from '../api/trace';
import { badArgument } from '../errors';
import { host, ofIsolate } from '../host';
import { recordThisRun } from '../observe/run';
import './addon';

/** How many places a report has, by what a user wrote. */
export function parseTop(text: string, what: string): number {
  const top = Number(text);
  if (!Number.isInteger(top) || top < 1) throw badArgument(what, text, 'a whole number from 1 on');
  return top;
}

/** A variable that is 1 or 0. */
export function flag(name: string, otherwise = false): boolean {
  const value = process.env[name] || (otherwise ? '1' : '0');
  if (value !== '0' && value !== '1') throw badArgument(name, value, '1 or 0');
  return value === '1';
}

/** Switches reclaim on, with these settings. Once: --import and require may both ask for it. */
export function applyEnvironment(): void {
  const begun = ofIsolate('settings', () => ({ applied: false }));
  if (begun.applied) return;
  begun.applied = true;
  const { EBB_BUDGET, EBB_RECORD, EBB_REPORT } = process.env;
  const strict = flag('EBB_STRICT');
  if (EBB_BUDGET) budget(EBB_BUDGET, { strict });
  else if (strict && isMainThread) host().setBudget(0, true); // the default one
  if (flag('EBB_TRACE')) trace.on();
  onWhenReady({ variables: flag('EBB_VARIABLES', true) });
  if (EBB_RECORD && isMainThread) recordThisRun(EBB_RECORD);
  if (EBB_REPORT && isMainThread) {
    const top = parseTop(EBB_REPORT, 'EBB_REPORT');
    process.on('exit', () => process.stderr.write(`${report({ top, everywhere: true })}\n`));
  }
}
