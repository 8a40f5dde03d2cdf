/**
 * Ebb for TensorFlow.js in a page or a worker: gives back the GPU memory of tensors that nobody can reach any more.
 *
 * ```js
 * import * as ebb from 'ebb-tfjs/web';
 * await ebb.load();
 * ebb.reclaim.on();
 * ```
 */
import { host, provideHost } from '../host';
import { type CoreSource, isLoaded, loadCore, unloadCore } from './core';
import { makeHost, type PageHost } from './host';
import type { PressureReading } from './pressure';

export * from '../common';
export type { CoreSource, PressureReading };

provideHost(makeHost);

/** Set when the package is built: where the core lies if nobody says. */
declare const EBB_CORE_URL: () => string;

/**
 * Fetches the core, which everything else needs: `ebb_core.wasm`, from beside this file, or from where `source` says.
 * A URL, the bytes, or a compiled WebAssembly.Module.
 */
export async function load(source?: CoreSource): Promise<void> {
  if (!isLoaded()) await loadCore(source ?? EBB_CORE_URL());
  const { sentinels } = loadedHost();
  // Sentinels are of use from the job after the one that made them.
  while (!sentinels.full) await new Promise((resolve) => setTimeout(resolve));
}

/** A core of another version is refused when it is first used. */
function loadedHost(): PageHost {
  try {
    return host() as PageHost;
  } catch (error) {
    unloadCore();
    throw error;
  }
}

/** Whether this browser collects when it is pressed: collections asked for, and confirmed. */
export function pressure(): PressureReading {
  return { ...(host() as PageHost).pressure.reading };
}
