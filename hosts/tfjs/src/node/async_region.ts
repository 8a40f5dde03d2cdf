// Scopes that follow the code across `await`. A region is a scope of the engine that leaves the engine's
// stack when its function first waits, and is carried on by the async context.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Scope } from '../engine/tfjs';
import { ofIsolate } from '../host';

/** Begun with the first async region: on Node 20 it makes every await in the program dearer. */
interface Carrier {
  storage: AsyncLocalStorage<Scope> | undefined;
}

let found: Carrier | undefined;
const carrier = (): Carrier => (found ??= ofIsolate('regions', () => ({ storage: undefined })));

export function currentRegion(): Scope | undefined {
  return carrier().storage?.getStore();
}

export function runInRegion<T>(region: Scope, run: () => T): T {
  return (carrier().storage ??= new AsyncLocalStorage<Scope>()).run(region, run);
}

/** Nothing asynchronous came of it: makes awaits cheap again, if no region was ever carried. */
export function endStorage(): void {
  carrier().storage?.disable();
  carrier().storage = undefined;
}

export function storageStarted(): boolean {
  return carrier().storage !== undefined;
}
