// `tidy` for functions that may wait.
import { tensorsIn } from '../engine/containers';
import type { Hooks } from '../engine/hooks';
import { ownerNow } from '../engine/owner';
import type { Scope } from '../engine/tfjs';
import { badArgument, EbbError } from '../errors';
import { endStorage, runInRegion, storageStarted } from '../node/async_region';
import { isPromise } from '../node/promises';
import { requireHooks } from './require_hooks';

/**
 * Runs a function and ends the tensors made in it when it is done, except those that it returns, wherever
 * they are in its result, and those that were kept. The function may be async: its tensors live until its
 * promise settles, whatever else runs meanwhile. In a page, which cannot follow code across `await`, what it makes after
 * its first wait belongs to the region if it is made in `scope.run`.
 */
export function tidy<T>(run: (scope: TidyScope) => T): T;
export function tidy<T>(name: string, run: (scope: TidyScope) => T): T;
export function tidy<T>(
  nameOrRun: string | ((scope: TidyScope) => T),
  maybeRun?: (scope: TidyScope) => T,
): T {
  const name = typeof nameOrRun === 'string' ? nameOrRun : 'ebb.tidy';
  const run = typeof nameOrRun === 'string' ? maybeRun : nameOrRun;
  if (typeof run !== 'function')
    throw badArgument('tidy', run, 'a function, or a name and a function');
  const installed = requireHooks('tidy');
  const region = open(installed, name);
  const started = storageStarted();
  let result: T;
  try {
    result = runInRegion(region, () => awaitable(run(scopeOf(region))));
  } catch (error) {
    close(installed, region, undefined, started);
    throw error;
  }
  if (!isPromise(result)) {
    close(installed, region, result, started);
    return result;
  }
  installed.scopes.pop(region);
  return result.then(
    (value) => {
      finish(installed, region, value);
      return value;
    },
    (error: unknown) => {
      finish(installed, region, undefined);
      throw error;
    },
  ) as T;
}

/** The region of a tidy, for code that is to be in it. */
export interface TidyScope {
  /** Runs a function in the region; what it makes before its first wait ends with it. */
  run<T>(work: () => T): T;
}

export function scopeOf(region: Scope): TidyScope {
  return {
    run: (work) => {
      if (typeof work !== 'function') throw badArgument('scope.run', work, 'a function');
      if (region.closed)
        throw new EbbError('EBB_WRONG_STATE', '[scope.run] The tidy of this scope has ended.');
      return runInRegion(region, work);
    },
  };
}

function open(installed: Hooks, name: string): Scope {
  const parent = ownerNow(installed.engine);
  const region = installed.scopes.start(name);
  region.parent = parent;
  region.region = region;
  return region;
}

/** It never waited. */
function close(installed: Hooks, region: Scope, result: unknown, started: boolean): void {
  if (!started) endStorage();
  installed.scopes.pop(region);
  finish(installed, region, result);
}

function finish(installed: Hooks, region: Scope, result: unknown): void {
  const returned = tensorsIn(result);
  installed.scopes.release(region, returned);
  installed.scopes.handOver(region, returned);
  installed.safePoint();
}

/**
 * What is waited for as a promise of Node's own: a thenable may begin its work only when it is asked, which must be in
 * the region, and its `then` may give nothing back.
 */
function awaitable<T>(value: T): T {
  const isThenable = typeof (value as { then?: unknown } | null)?.then === 'function';
  return isThenable && !isPromise(value) ? (Promise.resolve(value) as T) : value;
}
