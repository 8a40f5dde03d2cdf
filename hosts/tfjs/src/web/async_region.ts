// The region of the code that runs now, in the place of src/node/async_region.ts. A page cannot follow code across
// `await`: a region is in force while the function runs that was given to `runInRegion`, and not after its first wait.
import type { Scope } from '../engine/tfjs';

let current: Scope | undefined;

export function currentRegion(): Scope | undefined {
  return current;
}

export function runInRegion<T>(region: Scope, run: () => T): T {
  const before = current;
  current = region;
  try {
    return run();
  } finally {
    current = before;
  }
}

export function endStorage(): void {}

export function storageStarted(): boolean {
  return false;
}
