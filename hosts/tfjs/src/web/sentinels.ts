// Seeing deaths without waiting for finalizers.
//
// A WeakRef pins its target until the job in which it was made, or last asked, has ended: one made for a new tensor
// would keep it alive for just as long as it matters. A sentinel does not: an object whose WeakRef was made in an
// earlier job, hung on the tensor at birth. After a collection its `deref()` says at once whether the tensor is gone.
//
//   stock    sentinels made in earlier jobs. Each job ends with a message that refills it.
//            Where it ran empty in a job, it becomes twice as large, up to MOST. Without one a tensor is watched by a
//            WeakRef of its own, and its death is seen in a later job.
//   asking   oldest first, each at most once a job, since one that is found alive is pinned until the job ends. The
//            YOUNGEST are left out: what was made last is in use.
//   canary   a sentinel that nobody holds: gone after a collection that would have found the dead. Nobody is asked
//            before a canary has died. The oldest there is: a collection of young objects does not find older ones, and
//            asking after it would pin them all for nothing.
//   name     what a sentinel was hung on, for the finalizers. They are registered with the sentinel, once, and not with
//            each tensor, which would cost more than all the rest.
//   resting  sentinels that this job has made or asked: the next has them in its stock. Those of tensors that are
//            disposed of are of use at once, for nobody had to ask.
import type { Tensor } from '../engine/tfjs';

const FIRST_STOCK = 8192;
const MOST = 1 << 16;
const CANARIES = 128;
const YOUNGEST = 8;
/** Sentinels made in one job: about a millisecond. */
const SLICE = 1024;

/** What a sentinel's finalizer is told: the name of the tensor that it hung on last. */
interface Label {
  name: number;
}

/** Hung on a tensor; leads back to it, so that whoever has the one finds the other. */
export interface Sentinel {
  watched: object | undefined;
  slot: number;
  readonly label: Label;
  /** To itself, from the job that made it. */
  readonly ref: WeakRef<Sentinel>;
}

const MARK = Symbol('ebb.sentinel');
type Marked = { [MARK]?: Sentinel | undefined };

function makeSentinel(): Sentinel {
  const sentinel = { watched: undefined, slot: 0, label: { name: NOBODY } } as {
    -readonly [K in keyof Sentinel]: Sentinel[K];
  };
  sentinel.ref = new WeakRef<Sentinel>(sentinel);
  return sentinel;
}

export class Sentinels {
  /** By slot: the sentinel's WeakRef, or where there was no sentinel the tensor's. */
  private readonly refs: Array<WeakRef<Sentinel> | WeakRef<Tensor> | undefined> = [];
  /** By slot: whether it has a sentinel. */
  private hasSentinel = new Uint8Array(1024);
  /** How often a slot was taken: what was asked or registered before belongs to another tensor. */
  private generations = new Uint32Array(1024);
  private readonly stock: Sentinel[] = [];
  /** Oldest first. */
  private readonly canaries: Sentinel[] = [];
  /** Made in the job that runs, or given back in it: of use in the next. */
  private resting: Sentinel[] = [];
  /** Slots and generations, oldest first: not asked in this job. */
  private unasked: number[] = [];
  /** The same of those that were asked, and of those that have no sentinel until the job ends. */
  private asked: number[] = [];
  private wanted = FIRST_STOCK;
  private ranEmpty = false;
  private readonly nextJob: () => void;
  private jobPending = false;
  private readonly registry = new FinalizationRegistry<Label>(({ name }) => this.finalized(name));

  /** `died`: the tensor of this slot is gone. */
  constructor(private readonly died: (slot: number) => void) {
    const channel = new MessageChannel();
    this.nextJob = () => channel.port2.postMessage(0);
    (channel.port1 as { onmessage?: () => void }).onmessage = () => this.begin();
    (channel.port1 as { unref?(): void }).unref?.(); // in Node, where a port keeps the process alive
    this.refill();
  }

  /** How many tensors the stock would still serve. */
  get left(): number {
    return this.stock.length;
  }

  get full(): boolean {
    return this.stock.length >= this.wanted;
  }

  watch(slot: number, tensor: Tensor): void {
    if (slot >= this.generations.length) this.grow(slot);
    const generation = ((this.generations[slot] as number) + 1) % GENERATIONS;
    this.generations[slot] = generation;
    const name = nameOf(slot, generation);
    this.later();
    const sentinel = this.stock.pop();
    if (sentinel === undefined) {
      this.ranEmpty = true;
      this.hasSentinel[slot] = 0;
      this.refs[slot] = new WeakRef(tensor);
      this.registry.register(tensor, { name });
      this.asked.push(name);
      return;
    }
    sentinel.watched = tensor;
    sentinel.slot = slot;
    sentinel.label.name = name;
    (tensor as Marked)[MARK] = sentinel;
    this.hasSentinel[slot] = 1;
    this.refs[slot] = sentinel.ref;
    this.unasked.push(name);
  }

  /** What a slot watches, while it can be reached; until the job has ended it can. */
  object(slot: number): object | undefined {
    const target = this.refs[slot]?.deref();
    if (target === undefined || this.hasSentinel[slot] === 0) return target;
    return (target as Sentinel).watched;
  }

  /** A tensor is disposed of: its sentinel serves another, unless it cannot be taken off. */
  release(tensor: object): void {
    const sentinel = (tensor as Marked)[MARK];
    if (sentinel === undefined) return;
    this.forget(sentinel.slot);
    sentinel.watched = undefined;
    sentinel.label.name = NOBODY;
    try {
      (tensor as Marked)[MARK] = undefined;
    } catch {
      return; // somebody has frozen the tensor
    }
    if (this.stock.length < this.wanted) this.stock.push(sentinel);
  }

  /** What this slot watched has ended; whoever is asked or finalized from now on under its name is not told of. */
  forget(slot: number): void {
    if (this.refs[slot] === undefined) return;
    this.refs[slot] = undefined;
    this.generations[slot] = ((this.generations[slot] as number) + 1) % GENERATIONS;
  }

  /** A sentinel that nobody holds; undefined: there is none in this job. */
  canary(): WeakRef<Sentinel> | undefined {
    return this.canaries.shift()?.ref; // the sentinel itself is let go
  }

  /** Right after a collection: tells of those that have died, oldest first. `all`: the youngest as well. */
  ask(all: boolean): void {
    const { unasked } = this;
    const end = all ? unasked.length : Math.max(0, unasked.length - YOUNGEST);
    for (let i = 0; i < end; i++) {
      const name = unasked[i] as number;
      const slot = slotOf(name);
      if (this.generations[slot] !== generationOf(name)) continue;
      if (this.refs[slot]?.deref() === undefined) this.died(slot);
      else this.asked.push(name);
    }
    this.unasked = unasked.slice(end);
    if (this.asked.length > 0) this.later();
  }

  private finalized(name: number): void {
    if (name === NOBODY) return;
    const slot = slotOf(name);
    if (this.generations[slot] === generationOf(name)) this.died(slot);
  }

  private later(): void {
    if (this.jobPending) return;
    this.jobPending = true;
    this.nextJob();
  }

  /** A new job: what was asked may be asked again, what rested is of use, the stock is full again. */
  private begin(): void {
    this.jobPending = false;
    const isCurrent = (name: number): boolean =>
      this.generations[slotOf(name)] === generationOf(name);
    if (this.asked.length > 0) {
      // Births and collections keep both in order of age.
      this.unasked = this.asked.concat(this.unasked).filter(isCurrent);
      this.asked = [];
    } else if (this.unasked.length > 4096) this.unasked = this.unasked.filter(isCurrent);
    this.refill();
  }

  private refill(): void {
    if (this.ranEmpty) this.wanted = Math.min(this.wanted * 2, MOST);
    this.ranEmpty = false;
    const ready = this.resting;
    this.resting = [];
    while (this.canaries.length < CANARIES && ready.length > 0)
      this.canaries.push(ready.pop() as Sentinel);
    const lacking = Math.max(0, this.wanted - this.stock.length);
    this.stock.push(...ready.slice(0, lacking));
    const missing = this.wanted - this.stock.length + CANARIES - this.canaries.length;
    const count = Math.min(SLICE, missing);
    for (let i = 0; i < count; i++) this.resting.push(this.made());
    if (count > 0) this.later();
  }

  private made(): Sentinel {
    const sentinel = makeSentinel();
    this.registry.register(sentinel, sentinel.label);
    return sentinel;
  }

  private grow(slot: number): void {
    const length = Math.max(slot + 1, this.generations.length * 2);
    const generations = new Uint32Array(length);
    generations.set(this.generations);
    this.generations = generations;
    const hasSentinel = new Uint8Array(length);
    hasSentinel.set(this.hasSentinel);
    this.hasSentinel = hasSentinel;
  }
}

/** A slot and its generation in one number, exact in a double. */
const SLOTS = 2 ** 24;
const GENERATIONS = 2 ** 29;
/** The name of what hangs on nothing. */
const NOBODY = -1;

function nameOf(slot: number, generation: number): number {
  return generation * SLOTS + slot;
}

function slotOf(name: number): number {
  return name % SLOTS;
}

function generationOf(name: number): number {
  return Math.floor(name / SLOTS);
}
