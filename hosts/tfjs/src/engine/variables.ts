// TensorFlow.js registers variables by name, for ever. Here the registry holds them weakly: it looks the
// same from outside, but a variable that nobody else can reach is not in it.
import type { Books } from '../books/books';
import type { Variable } from './tfjs';

export class Variables {
  /** False: the registry holds variables, as TensorFlow.js has it. */
  weak = true;
  /** By name: the variable itself, or the id of one that is watched. */
  private readonly entries = new Map<string, Variable | number>();
  private pinned: Variable[] = [];
  /** Named in the job that runs now: a clash among these is the program's, as it always was. */
  private readonly namedNow = new Set<string>();

  constructor(private readonly books: Books) {}

  /** Takes over the variables of the engine's own registry. */
  wrap(registry: Record<string, Variable>): Record<string, Variable> {
    this.entries.clear();
    for (const name of Object.keys(registry)) this.entries.set(name, registry[name] as Variable);
    return new Proxy({} as Record<string, Variable>, {
      get: (_, name) => (typeof name === 'string' ? this.get(name) : undefined),
      set: (_, name, variable: Variable) => {
        this.entries.set(String(name), variable);
        this.noteName(String(name));
        return true;
      },
      has: (_, name) => typeof name === 'string' && this.get(name) !== undefined,
      deleteProperty: (_, name) => {
        this.entries.delete(String(name));
        return true;
      },
      ownKeys: () => this.names(),
      getOwnPropertyDescriptor: (_, name) => {
        const value = typeof name === 'string' ? this.get(name) : undefined;
        return value && { value, writable: true, enumerable: true, configurable: true };
      },
    });
  }

  get(name: string): Variable | undefined {
    const entry = this.entries.get(name);
    if (typeof entry !== 'number') return entry;
    const slot = this.books.slots.find(entry);
    return slot < 0 ? undefined : (this.books.tensor(slot) as Variable | undefined);
  }

  /** The variable is watched now: the registry need not hold it. */
  watched(variable: Variable): void {
    if (this.weak && this.entries.get(variable.name) === variable) {
      this.entries.set(variable.name, variable.id);
    }
  }

  /** A variable ended; a newer one may have its name already. */
  ended(name: string, id: number): void {
    const entry = this.entries.get(name);
    if (entry === id || (typeof entry === 'object' && entry.id === id)) this.entries.delete(name);
  }

  /** True if this name is taken by a variable that may be dead. */
  mayBeStale(name: string): boolean {
    return this.weak && !this.namedNow.has(name) && this.get(name) !== undefined;
  }

  setWeak(weak: boolean): void {
    this.weak = weak;
    for (const [name, entry] of this.entries) {
      if (typeof entry === 'object') {
        if (weak && this.books.slots.find(entry.id) >= 0) this.entries.set(name, entry.id);
      } else if (!weak) {
        const variable = this.get(name);
        if (variable !== undefined) this.entries.set(name, variable);
      }
    }
  }

  private noteName(name: string): void {
    if (this.namedNow.size === 0) queueMicrotask(() => this.namedNow.clear());
    this.namedNow.add(name);
  }

  /** Names of the living, who stay so until the loop that asked has ended. */
  private names(): string[] {
    const names: string[] = [];
    if (this.pinned.length === 0) queueMicrotask(() => (this.pinned = []));
    for (const name of this.entries.keys()) {
      const variable = this.get(name);
      if (variable === undefined) continue;
      names.push(name);
      this.pinned.push(variable);
    }
    return names;
  }
}
