// Scopes that follow the code across `await`. A region is a scope of the engine that leaves the engine's
// stack when its function first waits, and is carried on by the async context.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Engine, Scope } from './tfjs';

// Begun with the first async region: on Node 20 it makes every await in the program dearer.
let storage: AsyncLocalStorage<Scope> | undefined;

export function currentRegion(): Scope | undefined {
  return storage?.getStore();
}

export function runInRegion<T>(region: Scope, run: () => T): T {
  return (storage ??= new AsyncLocalStorage<Scope>()).run(region, run);
}

/** Nothing asynchronous came of it: makes awaits cheap again, if no region was ever carried. */
export function endStorage(): void {
  storage?.disable();
  storage = undefined;
}

export function storageStarted(): boolean {
  return storage !== undefined;
}

function nearestOpen(scope: Scope | undefined): Scope | undefined {
  while (scope !== undefined && (scope.closed || scope.transparent)) scope = scope.parent;
  return scope;
}

/** Who owns what is born now: the innermost of the engine's scope and the async region. */
export function ownerNow(engine: Engine): Scope | undefined {
  const active = engine.state.activeScope ?? undefined;
  if (storage === undefined) return active;
  const region = storage.getStore();
  if (region === undefined) return active;
  if (active !== undefined && active.region === region) return nearestOpen(active);
  return nearestOpen(region);
}
