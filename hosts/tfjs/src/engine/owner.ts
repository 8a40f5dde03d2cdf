// Who owns what is made now: a scope of the engine, or a region that follows the code across `await`.
import { currentRegion } from '../node/async_region';
import type { Engine, Scope } from './tfjs';

function nearestOpen(scope: Scope | undefined): Scope | undefined {
  while (scope !== undefined && (scope.closed || scope.transparent)) scope = scope.parent;
  return scope;
}

/** Who owns what is born now: the innermost of the engine's scope and the async region. */
export function ownerNow(engine: Engine): Scope | undefined {
  const active = engine.state.activeScope ?? undefined;
  const region = currentRegion();
  if (region === undefined) return active;
  if (active !== undefined && active.region === region) return nearestOpen(active);
  return nearestOpen(region);
}
