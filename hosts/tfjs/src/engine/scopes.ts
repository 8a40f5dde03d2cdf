// The engine's scopes, without holding what they track: a scope lists ids, and finds the tensors that are
// still alive through their native weak references when it ends.
import type { Books } from '../books/books';
import type { Guess } from '../books/guesses';
import { currentRegion } from '../node/async_region';
import { tensorsIn } from './containers';
import { ownerNow } from './owner';
import { type Engine, isTensor, type Scope, type Tensor } from './tfjs';

const FIRST_SWEEP = 1024;

export class Scopes {
  /** Off while reclaim is off: then a scope holds its tensors, as TensorFlow.js has it. */
  weak = true;

  constructor(
    private readonly engine: Engine,
    private readonly books: Books,
  ) {}

  /** `site`: that of what an operation makes in it; 0: each tensor has its own. `guess`: what it is taken from, unseen. */
  start(name?: string, site = 0, guess?: Guess): Scope {
    const { state } = this.engine;
    const scope: Scope = {
      track: [],
      name: name || 'unnamed scope',
      id: state.nextScopeId++,
      parent: state.activeScope ?? undefined,
      region: currentRegion(),
      closed: false,
      site,
      guess,
    };
    state.scopeStack.push(scope);
    state.activeScope = scope;
    return scope;
  }

  end(result: unknown): void {
    const scope = this.engine.state.activeScope as Scope;
    if (isTensor(result)) {
      this.releaseBut(scope, result.id);
      this.pop(scope);
      scope.closed = true;
      this.handOverOne(scope, result);
      return;
    }
    const returned = tensorsIn(result);
    this.release(scope, returned);
    this.pop(scope);
    this.handOver(scope, returned);
  }

  /** Takes a scope off the engine's stack; what it tracks stays as it is. */
  pop(scope: Scope): void {
    const { state } = this.engine;
    const { scopeStack } = state;
    if (scopeStack[scopeStack.length - 1] === scope) {
      scopeStack.pop();
    } else {
      const at = scopeStack.lastIndexOf(scope);
      if (at >= 0) scopeStack.splice(at, 1);
    }
    state.activeScope = scopeStack.length === 0 ? null : scopeStack[scopeStack.length - 1];
  }

  /** Ends what the scope owns, but for what is kept or returned. */
  release(scope: Scope, returned: Tensor[]): void {
    const ids = returned.length > 0 ? new Set(returned.map((tensor) => tensor.id)) : undefined;
    this.releaseBut(scope, -1, ids);
  }

  /** Gives what a scope returned to whoever owns things outside it. */
  handOver(scope: Scope, returned: Tensor[]): void {
    scope.closed = true;
    for (const tensor of returned) this.handOverOne(scope, tensor);
  }

  private handOverOne(scope: Scope, tensor: Tensor): void {
    if (!tensor.kept && tensor.scopeId === scope.id) this.engine.track(tensor);
  }

  private releaseBut(scope: Scope, only: number, wanted?: Set<number>): void {
    const { track } = scope;
    const { world } = this.books;
    world.scoping = true;
    try {
      for (let i = 0; i < track.length; i++) {
        const entry = track[i] as Tensor | number;
        const id = typeof entry === 'number' ? entry : entry.id;
        if (id === only || wanted?.has(id)) continue;
        const tensor = typeof entry === 'number' ? this.alive(entry) : entry;
        if (tensor !== undefined && !tensor.kept) tensor.dispose();
      }
    } finally {
      world.scoping = false;
    }
  }

  track(tensor: Tensor, watched: boolean): void {
    const scope = ownerNow(this.engine);
    if (scope === undefined) return;
    tensor.scopeId = scope.id;
    const { track } = scope;
    track[track.length] = this.weak && watched ? tensor.id : tensor;
    if (track.length >= (scope.sweepAt ?? FIRST_SWEEP)) this.sweep(scope);
  }

  private alive(id: number): Tensor | undefined {
    const slot = this.books.slots.find(id);
    return slot < 0 ? undefined : this.books.tensor(slot);
  }

  /** A long scope must not gather the ids of all that has ended in it. */
  private sweep(scope: Scope): void {
    const { slots } = this.books;
    scope.track = scope.track.filter((entry) =>
      typeof entry === 'number' ? slots.find(entry) >= 0 : !entry.isDisposed,
    );
    scope.sweepAt = Math.max(FIRST_SWEEP, scope.track.length * 2);
  }
}
