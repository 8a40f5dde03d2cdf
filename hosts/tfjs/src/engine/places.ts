// Which births are booked with the place that made them, and how it is found: by a look at the stack while tracing, mostly
// by a guess (`books/guesses.ts`) in a recording.
import { type Guess, Guesses } from '../books/guesses';
import type { Sites } from '../books/sites';
import type { World } from '../books/world';
import { Sampler } from '../observe/sampler';
import { Signal } from '../shared';
import { bytesOf, type DataRecord, type Engine, type OwnData, type Tensor } from './tfjs';

/** Those of ebb_record_mode that take places. */
const enum RecordingMode {
  Sampled = 2,
  Full = 3,
}

/** Scopes open at once that guesses tell apart. */
const DEEPEST = 64;

type Entry = (...args: never[]) => unknown;

export class Places {
  private readonly sampler = new Sampler();
  private readonly ofFull = new Guesses();
  private readonly ofSampled = new Guesses();
  /** Where the last operation of a full recording came from. */
  private last = 0;

  constructor(
    private readonly engine: Engine,
    private readonly world: World,
    private readonly sites: Sites,
  ) {}

  /** Whether each tensor is booked with a place. */
  get all(): boolean {
    return this.sites.on || this.world.signals[Signal.Recording] === RecordingMode.Full;
  }

  /** What may stand for a look at who calls this operation; undefined: only a look will do. */
  guess(name: string): Guess | undefined {
    return this.sites.on ? undefined : this.afterLast(name);
  }

  /** An operation came from there, as was seen or guessed. */
  cameFrom(site: number): void {
    this.last = site;
  }

  /** The place of a tensor that is being made, below `entry`; 0: none is wanted, or no user's code made it. */
  ofBirth(tensor: Tensor, record: DataRecord, entry: Entry): number {
    if (this.sites.on) return this.engine.state.activeScope?.site || this.look(entry);
    const mode = this.world.signals[Signal.Recording];
    if (mode === RecordingMode.Full) return this.inFull(tensor, entry);
    this.last = 0; // what comes next in a full recording does not follow from what came last in the one before
    switch (mode) {
      case RecordingMode.Sampled:
        return this.inSampled(tensor, record, entry);
      default:
        return 0;
    }
  }

  private inFull(tensor: Tensor, entry: Entry): number {
    const { activeScope } = this.engine.state;
    const { site = 0, guess } = activeScope ?? {};
    const large = this.isLarge(tensor);
    if (guess === undefined ? site !== 0 : !large) return site;
    const known = guess ?? this.afterLast(activeScope?.name ?? '');
    if (!large && known.holds()) return (this.last = known.site);
    this.last = this.look(entry);
    known.saw(this.last);
    return this.last;
  }

  private inSampled(tensor: Tensor, { backend }: DataRecord, entry: Entry): number {
    // One more tensor over data of Ebb's own is in no recording.
    if (backend.runtime !== undefined && (tensor.dataId as OwnData).slot >= 0) return 0;
    const mean = this.world.signals[Signal.SampleBytes] as number;
    const bytes = bytesOf(tensor.dtype, tensor.size);
    if (!this.sampler.wants(bytes, mean)) return 0;
    if (bytes >= mean) return this.sites.sample(entry);
    const name = this.engine.state.activeScope?.name ?? '';
    const guess = this.ofSampled.of(name, tensor.size * DEEPEST + this.depth());
    if (guess.holds()) return guess.site;
    const site = this.sites.sample(entry);
    guess.saw(site);
    return site;
  }

  private afterLast(name: string): Guess {
    return this.ofFull.of(name, this.last * DEEPEST + this.depth());
  }

  private depth(): number {
    return Math.min(this.engine.state.scopeStack.length, DEEPEST - 1);
  }

  private look(entry: Entry): number {
    return this.sites.search(entry, 2 + this.sites.frames);
  }

  /** Large tensors are looked at each: they are few, and matter most. */
  private isLarge({ dtype, size }: Tensor): boolean {
    return bytesOf(dtype, size) >= (this.world.signals[Signal.SampleBytes] as number);
  }
}
