// tfjs-layers remembers the order in which it ran the last hundred models, and with it the models.
import type { Engine } from './tfjs';

const FLAG = 'TOPOLOGICAL_SORT_CACHE_MAX_ENTRIES';

/** Empties that cache; a model that is still in use sorts itself once more. */
export function evictSortCache({ ENV }: Engine): void {
  const resize = ENV.flagRegistry[FLAG]?.setHook;
  if (resize === undefined) return;
  resize(0);
  resize(ENV.getNumber(FLAG));
}
