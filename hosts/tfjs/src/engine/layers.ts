// tfjs-layers remembers the order in which it ran the last hundred models, and with it the models.
import type { Engine, Flag } from './tfjs';

const FLAG = 'TOPOLOGICAL_SORT_CACHE_MAX_ENTRIES';

/**
 * The caches of every copy of tfjs-layers. All of them register one flag, and the last one replaces what the
 * others registered: so the registry is watched for those that come later.
 */
export class SortCaches {
  private readonly resizers = new Set<(entries: number) => void>();

  constructor(private readonly env: Engine['ENV']) {
    let current: Flag | undefined;
    const seen = (flag: Flag | undefined): void => {
      current = flag;
      if (flag?.setHook !== undefined) this.resizers.add(flag.setHook);
    };
    seen(env.flagRegistry[FLAG]);
    Object.defineProperty(env.flagRegistry, FLAG, {
      configurable: true,
      enumerable: true,
      get: () => current,
      set: seen,
    });
  }

  /** Empties them; a model that is still in use sorts itself once more. */
  evict(): void {
    if (this.resizers.size === 0) return;
    const entries = this.env.getNumber(FLAG);
    for (const resize of this.resizers) {
      resize(0);
      resize(entries);
    }
  }
}
