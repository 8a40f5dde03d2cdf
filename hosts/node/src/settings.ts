// What the environment asks for, where reclaim is switched on from outside of the program; docs/node.md lists it.
import { isMainThread } from 'node:worker_threads';
import { budget } from './budget';
import { badArgument } from './errors';
import { report } from './memory';
import { native } from './native';
import { onWhenReady } from './reclaim';
import { trace } from './trace';

let applied = false;

/** How many places a report has, by what a user wrote. */
export function parseTop(text: string, what: string): number {
  const top = Number(text);
  if (!Number.isInteger(top) || top < 1) throw badArgument(what, text, 'a whole number from 1 on');
  return top;
}

/** Switches reclaim on, with these settings. Once: --import and require may both ask for it. */
export function applyEnvironment(): void {
  if (applied) return;
  applied = true;
  const { EBB_BUDGET, EBB_STRICT, EBB_TRACE, EBB_REPORT, EBB_VARIABLES } = process.env;
  const strict = EBB_STRICT === '1';
  if (EBB_BUDGET) budget(EBB_BUDGET, { strict });
  else if (strict && isMainThread) native().setBudget(0, true); // the default one
  if (EBB_TRACE === '1') trace.on();
  onWhenReady({ variables: EBB_VARIABLES !== '0' });
  if (EBB_REPORT && isMainThread) {
    const top = parseTop(EBB_REPORT, 'EBB_REPORT');
    process.on('exit', () => process.stderr.write(`${report({ top, everywhere: true })}\n`));
  }
}
