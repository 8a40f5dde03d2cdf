// What tests of users check: that a function leaves no tensors behind, and how much it needs at once.
import { expectNoLeaks } from '../api/leaks';
import { parseBytes } from '../api/budget';
import { requireHooks } from '../api/require_hooks';
import { badArgument, checkFlag, checkOptions } from '../errors';
import { host } from '../host';
import { amount } from '../observe/shown';
import { COLUMNS } from '../shared';

export interface CheckOptions {
  /** How often the function runs before it counts: for caches and compilations that fill the first time. Default: 0. */
  warmups?: number;
}

export interface LeaveOptions extends CheckOptions {
  /** Count only what can still be reached, after a collection. Default: false. */
  reachableOnly?: boolean;
}

export interface Outcome {
  pass: boolean;
  message: string;
}

type Run = () => unknown;

function checkRun(what: string, run: unknown, warmups: unknown): void {
  if (typeof run !== 'function') throw badArgument(what, run, 'a function');
  if (!Number.isInteger(warmups) || (warmups as number) < 0)
    throw badArgument(`${what}: warmups`, warmups, 'a whole number from 0 on');
}

async function warmUp(run: Run, warmups: number): Promise<void> {
  for (let i = 0; i < warmups; i++) await run();
}

/** Whether the function ends or returns every tensor that it makes. */
export async function leaveNoTensors(run: Run, options: LeaveOptions = {}): Promise<Outcome> {
  checkOptions('toLeaveNoTensors', options, 'warmups', 'reachableOnly');
  checkFlag('toLeaveNoTensors: reachableOnly', options.reachableOnly);
  const { warmups = 0, reachableOnly = false } = options;
  checkRun('toLeaveNoTensors', run, warmups);
  await warmUp(run, warmups);
  try {
    await expectNoLeaks(run, { reachableOnly });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== 'EBB_LEAK') throw error;
    return { pass: false, message: message.replace('[expectNoLeaks]', '[toLeaveNoTensors]') };
  }
  return { pass: true, message: '[toLeaveNoTensors] No tensor was left behind.' };
}

const LIVE_BYTES = COLUMNS.indexOf('liveBytes');

/**
 * Whether the tensors that are there while the function runs take at most so many bytes more than before. It looks where
 * Ebb does, at least once for each megabyte that is made; what nobody can reach does not count.
 */
export async function stayWithin(
  run: Run,
  size: number | string,
  options: CheckOptions = {},
): Promise<Outcome> {
  checkOptions('toStayWithin', options, 'warmups');
  const { warmups = 0 } = options;
  checkRun('toStayWithin', run, warmups);
  const limit = parseBytes(size, 'toStayWithin');
  const { books, calls } = requireHooks('toStayWithin');
  await warmUp(run, warmups);
  const live = (): number => host().memory(false, 0)[LIVE_BYTES] ?? 0;
  books.collect(true, false);
  const before = live();
  let most = 0;
  let looking = false; // collecting is a safe point itself
  const look = (): void => {
    if (looking || calls.running > 0) return;
    looking = true;
    try {
      if (live() - before > Math.max(limit, most)) books.collect(true, false);
    } finally {
      looking = false;
    }
    most = Math.max(most, live() - before);
  };
  books.afterSafePoint.add(look);
  try {
    await run();
    look();
  } finally {
    books.afterSafePoint.delete(look);
  }
  const pass = most <= limit;
  return {
    pass,
    message: `[toStayWithin] Tensors took ${amount(most)} more than before; allowed: ${amount(limit)}.`,
  };
}
