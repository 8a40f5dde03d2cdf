// A check for tests: what a function leaves behind.
import { tensorsIn } from '../engine/containers';
import type { Hooks } from '../engine/hooks';
import { ownerNow } from '../engine/owner';
import type { Scope } from '../engine/tfjs';
import { badArgument, checkFlag, checkOptions, EbbError } from '../errors';
import { runInRegion } from '../node/async_region';
import { requireHooks } from './require_hooks';
import { scopeOf, type TidyScope } from './tidy';
import { trace } from './trace';

export interface LeakOptions {
  /** Collect first, so that only what can still be reached counts. Default: false. */
  reachableOnly?: boolean;
}

/**
 * Runs a function and throws if tensors created inside it are, at its end, neither ended nor returned. The
 * error names the sites where they were made.
 */
export async function expectNoLeaks<T>(
  run: (scope: TidyScope) => T | Promise<T>,
  options: LeakOptions = {},
): Promise<T> {
  if (typeof run !== 'function') throw badArgument('expectNoLeaks', run, 'a function');
  checkOptions('expectNoLeaks', options, 'reachableOnly');
  checkFlag('expectNoLeaks: reachableOnly', options.reachableOnly);
  const { reachableOnly = false } = options;
  const installed = requireHooks('expectNoLeaks');
  const region = observe(installed);
  const traced = trace.isOn;
  if (!traced) trace.on({ frames: 2 });
  try {
    const result = await runInRegion(region, () => run(scopeOf(region)));
    if (reachableOnly) installed.books.collect(true, false);
    const leaks = leaked(installed, region, result, reachableOnly);
    if (leaks.length > 0) throw leakError(installed, leaks);
    return result;
  } finally {
    region.closed = true;
    if (!traced) trace.off();
    if (--installed.observers === 0) installed.reclaimedInside.clear();
  }
}

function observe(installed: Hooks): Scope {
  installed.observers++;
  const { engine } = installed;
  const parent = ownerNow(engine);
  const firstId = engine.nextTensorId();
  return {
    track: [],
    name: 'expectNoLeaks',
    id: -1,
    parent,
    transparent: true,
    births: [],
    firstId,
  };
}

/** Sites of the leaked, one for each. What reclaim gave back meanwhile was left behind all the same. */
function leaked(
  installed: Hooks,
  region: Scope,
  result: unknown,
  reachableOnly: boolean,
): number[] {
  const { slots } = installed.books;
  const returned = new Set(tensorsIn(result).map((tensor) => tensor.id));
  const sites: number[] = [];
  for (const id of new Set(region.births)) {
    if (returned.has(id)) continue;
    const slot = slots.find(id);
    const dead = reachableOnly && slot >= 0 && installed.books.tensor(slot) === undefined;
    if (slot >= 0 && !dead) sites.push(slots.site(slot));
    else if (!reachableOnly && installed.reclaimedInside.has(id)) {
      sites.push(installed.reclaimedInside.get(id) as number);
    }
  }
  return sites;
}

function leakError(installed: Hooks, leaks: number[]): EbbError {
  const counts = new Map<number, number>();
  for (const site of leaks) counts.set(site, (counts.get(site) ?? 0) + 1);
  const lines = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(
      ([site, count]) =>
        `  ${count} made at ${installed.sites.text(site).replaceAll('\n', '\n      from ')}`,
    );
  const total = leaks.length === 1 ? '1 tensor' : `${leaks.length} tensors`;
  return new EbbError('EBB_LEAK', `[expectNoLeaks] ${total} left behind:\n${lines.join('\n')}`);
}
