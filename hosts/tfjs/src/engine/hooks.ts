// Where Ebb touches TensorFlow.js: the engine's methods, replaced on the one engine there is. Nothing is
// touched before the first `reclaim.on()`, `trace.on()`, `tidy` or `expectNoLeaks`.
import { Books } from '../books/books';
import { budgetOf } from '../books/devices';
import { Idle } from '../books/idle';
import { Sites } from '../books/sites';
import { type World, world } from '../books/world';
import { badArgument } from '../errors';
import { host, ofIsolate } from '../host';
import { currentRegion } from '../node/async_region';
import { Calls } from './calls';
import { seeClass } from './classes';
import { runDirectly } from './direct';
import { rememberSite } from './disposed';
import { Faults } from './faults';
import { type FreeList, freeListOf, trimFreeLists } from './free_lists';
import { SortCaches } from './layers';
import { Places } from './places';
import { keepRecords } from './records';
import { Scopes } from './scopes';
import {
  type Backend,
  currentEngine,
  type DataRecord,
  type Engine,
  isVariable,
  OP_SUFFIX,
  recordOf,
  type Tensor,
} from './tfjs';
import { onUpload, type WebGlBackend } from './textures';
import { Variables } from './variables';

export class Hooks {
  readonly books: Books;
  readonly scopes: Scopes;
  readonly calls: Calls;
  readonly variables: Variables;
  readonly sites: Sites;
  readonly idle: Idle;
  readonly faults = new Faults();
  private readonly freeLists: FreeList[] = [];
  private usualBudget: number | undefined;
  private readonly places: Places;
  /** How many want to know what is born in their region. */
  observers = 0;

  constructor(
    readonly engine: Engine,
    readonly world: World,
  ) {
    runDirectly(engine);
    const { disposeTensor, runKernelFunc } = engine;
    this.books = new Books(world, engine, (tensor) => disposeTensor.call(engine, tensor));
    this.sites = sites();
    this.places = new Places(engine, world, this.sites);
    this.scopes = new Scopes(engine, this.books);
    this.calls = new Calls(engine, this.books, this.faults, (call) =>
      runKernelFunc.call(engine, call),
    );
    this.variables = new Variables(this.books);
    this.idle = new Idle(this.books, () => void trimFreeLists(engine, Infinity));
    const sortCaches = new SortCaches(engine.ENV);
    world.beforeMajor(() => sortCaches.evict());
    this.books.onBackend = (backend) => {
      this.calls.adopt(backend);
      this.measure(backend);
      this.faults.watch(backend);
    };
    this.books.onDrained = () => {
      this.trimToBudget();
      if (this.faults.watching) this.faults.look();
    };
    world.beforeMajor(() => this.trimToBudget());
    const { state } = engine;
    this.books.bornBefore(state.numTensors, state.numBytes);
    keepRecords(engine);
    this.hookTracking();
    this.hookEnds();
    this.hookScopes();
    this.hookVariables();
  }

  /** Knows from now on what a GPU backend has taken of its device. */
  private measure(backend: Backend): void {
    const list = freeListOf(backend);
    if (list === undefined) return;
    this.freeLists.push(list);
    if (list.bytesBehind === undefined) return;
    const { books, engine } = this;
    books.bytesBehind = (of, dataId) => freeListOf(of)?.bytesBehind?.(dataId);
    onUpload(backend as WebGlBackend, (dataId) => {
      const record = engine.state.tensorInfo.get(dataId);
      if (record !== undefined) books.sized(record);
    });
  }

  /** What backends keep for reuse counts: beyond the budget it goes back, which is cheaper than any collection. */
  private trimToBudget(): void {
    for (const list of this.freeLists) {
      if (list.idle === 0 || !this.books.reclaiming()) continue;
      const limit = host().budget() || (this.usualBudget ??= budgetOf(this.engine));
      if (list.allocated > limit) list.trim(list.allocated - limit);
    }
  }

  /** A safe point, unless a kernel runs. */
  safePoint(): void {
    if (this.calls.running === 0) this.books.drain();
  }

  private hookTracking(): void {
    const { engine, books, scopes, calls, places } = this;
    const { makeTensor, moveData } = engine;
    let entry: (...args: never[]) => unknown; // where the engine was entered to make a tensor
    const tracked = (tensor: Tensor, backend?: Backend): void => {
      if (!(tensor.id >= 0)) throw badArgument('trackTensor: id', tensor.id, 'a number from 0 on');
      const record = recordOf(engine, tensor, backend);
      const site = places.ofBirth(tensor, record, entry);
      books.born(tensor, record, site);
      if (isVariable(tensor)) this.variables.watched(tensor);
      else scopes.track(tensor, true);
      if (this.observers > 0) this.observe(tensor.id);
      seeClass(tensor, this.sites, this.faults);
      this.idle.arm();
    };
    entry = tracked;
    engine.trackTensor = tracked;
    engine.makeTensor = (values, shape, dtype, backend) => {
      if (calls.running === 0)
        books.lookAtBirth((values as ArrayBufferView | null)?.byteLength ?? 0);
      entry = engine.makeTensor;
      try {
        const tensor = makeTensor.call(engine, values, shape, dtype, backend);
        if (dtype === 'string')
          books.sized(engine.state.tensorInfo.get(tensor.dataId) as DataRecord);
        return tensor;
      } finally {
        entry = tracked;
      }
    };
    engine.moveData = (backend, dataId) => {
      books.moving(dataId, () => moveData.call(engine, backend, dataId));
    };
    engine.runKernelFunc = (call) => calls.call(call);
  }

  private hookEnds(): void {
    const { engine, books, places } = this;
    const { disposeTensor, memory, reset } = engine;
    engine.disposeTensor = (tensor) => {
      if (places.all) this.remember(tensor);
      if (books.ending(tensor)) disposeTensor.call(engine, tensor);
    };
    engine.memory = () => {
      this.safePoint();
      return memory.call(engine);
    };
    engine.reset = () => {
      reset.call(engine);
      books.reset();
      this.faults.forget();
      this.freeLists.length = 0;
      keepRecords(engine);
      engine.state.registeredVariables = this.variables.wrap(engine.state.registeredVariables);
    };
  }

  private hookScopes(): void {
    const { engine, scopes, books, calls, sites, places } = this;
    const { captureStackTrace } = Error;
    engine.startScope = (name) => {
      if (!places.all) {
        scopes.start(name);
        return;
      }
      const { activeScope } = engine.state;
      let site = activeScope?.site ?? 0;
      let guess = activeScope?.guess;
      if (site === 0 && name?.endsWith(OP_SUFFIX)) {
        guess = places.guess(name);
        if (guess?.holds()) site = guess.site;
        else {
          captureStackTrace?.(sites.beforeOperation(name), engine.startScope);
          site = sites.ofOperation(name, engine.startScope);
          guess?.saw(site);
          guess = undefined;
        }
        places.cameFrom(site);
      }
      scopes.start(name, site, guess);
    };
    engine.endScope = (result) => {
      scopes.end(result);
      if (calls.running === 0) books.lookForNotices();
    };
    engine.track = (tensor) => {
      scopes.track(tensor, books.slots.find(tensor.id) >= 0);
      return tensor;
    };
  }

  private hookVariables(): void {
    const { engine, books, variables } = this;
    const { disposeVariable, makeVariable } = engine;
    engine.state.registeredVariables = variables.wrap(engine.state.registeredVariables);
    books.onReclaimed = (slot) => {
      const name = books.slots.name(slot);
      if (name !== undefined) variables.ended(name, books.slots.id(slot));
      if (this.observers > 0) {
        this.reclaimedInside.set(books.slots.id(slot), books.slots.site(slot));
      }
    };
    engine.disposeVariable = (variable) => {
      disposeVariable.call(engine, variable);
      variables.ended(variable.name, variable.id);
    };
    engine.makeVariable = (initial, trainable, name, dtype) => {
      if (name && this.calls.running === 0 && variables.mayBeStale(name))
        books.collect(true, false);
      return makeVariable.call(engine, initial, trainable, name, dtype);
    };
  }

  /** Where a tensor that is about to end was made. */
  private remember(tensor: Tensor): void {
    const slot = this.books.slots.find(tensor.id);
    if (slot >= 0) rememberSite(tensor, this.books.slots.site(slot));
  }

  /** Ids, and creation sites, of tensors given back while somebody observes. */
  readonly reclaimedInside = new Map<number, number>();

  private observe(id: number): void {
    for (let region = currentRegion(); region !== undefined; region = region.parent) {
      if (region.births !== undefined && id >= (region.firstId as number)) region.births.push(id);
    }
  }
}

/** Where an engine keeps its hooks: a program may have several, and several copies of this package find them. */
const HOOKS = Symbol.for('ebb-tfjs.hooks');
type Hooked = Engine & { [HOOKS]?: Hooks };

export function sites(): Sites {
  return ofIsolate('sites', () => new Sites(host()));
}

/** The hooks, put in place if they are not; undefined without an engine. */
export function hooks(): Hooks | undefined {
  const engine = currentEngine() as Hooked | undefined;
  if (engine === undefined) return undefined;
  return (engine[HOOKS] ??= new Hooks(engine, world()));
}

/** The hooks, if they are in place. */
export function hooksIfAny(): Hooks | undefined {
  return (currentEngine() as Hooked | undefined)?.[HOOKS];
}
