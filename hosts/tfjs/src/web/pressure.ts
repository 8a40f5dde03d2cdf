// Making the page's collector run, without flags. It answers to memory that it does not look into: buffers that are
// taken and dropped untouched cost address space only.
//
//   a light push   two ArrayBuffers of 65 MB: in V8 a scavenge, below a millisecond, which sees deaths as long as all is
//                  young; in Firefox a full collection
//   a heavy one    two WebAssembly memories of 4 GB: in V8 a full collection
//
// A push does not always collect what it should, so a canary is looked at after each: light, heavy, light, heavy, until
// one has died, a few times at most. A light push makes V8 begin to mark: the canary of the heavy one after it is let go
// before, or it would be marked as alive, and one more full collection be needed. Where pressing never helps, it is said
// once, and tried again from time to time.
import type { Sentinels } from './sentinels';

const MB = 2 ** 20;
const BUFFER = 65 * MB;
/** In pages of 64 KB. */
const WASM_PAGES = 65536;

declare const WebAssembly: {
  readonly Memory: new (limits: { initial: number; maximum: number }) => object;
};

/** Pushes for one collection, at most. */
const MOST_PUSHES = 10;
/** Failures in a row after which collecting is given up, and how many calls later it is tried again. */
const GIVEN_UP = 3;
const TRY_AGAIN = 64;

function pushLightly(): void {
  new ArrayBuffer(BUFFER);
  new ArrayBuffer(BUFFER);
}

function pushHeavily(): void {
  new WebAssembly.Memory({ initial: WASM_PAGES, maximum: WASM_PAGES });
  new WebAssembly.Memory({ initial: WASM_PAGES, maximum: WASM_PAGES });
}

const ROUND = [pushLightly, pushHeavily];

/** What forcing has come to, for people and tests. */
export interface PressureReading {
  /** Collections that were asked for, those that a canary has confirmed, and the pushes it took. */
  asked: number;
  worked: number;
  pushes: number;
  longestMs: number;
}

export class Pressure {
  /** Ask the youngest as well: somebody wants to know who is alive, not room. */
  askAll = false;
  readonly reading: PressureReading = { asked: 0, worked: 0, pushes: 0, longestMs: 0 };
  private failures = 0;
  private said = false;

  constructor(
    private readonly sentinels: Sentinels,
    private readonly warn: (message: string) => void,
  ) {}

  /** Whether a collection ran that would have found the dead; who they are has been told. */
  collect(major: boolean): boolean {
    const { reading } = this;
    if (this.failures >= GIVEN_UP && this.failures++ % TRY_AGAIN !== 0) return false;
    reading.asked++;
    const start = performance.now();
    const worked = this.push(major ? MOST_PUSHES : 1);
    reading.longestMs = Math.max(reading.longestMs, performance.now() - start);
    if (worked) {
      reading.worked++;
      this.failures = 0;
      this.sentinels.ask(this.askAll);
    } else if (major) this.failed();
    return worked;
  }

  private push(most: number): boolean {
    for (let done = 0; done < most; done += ROUND.length) {
      const pushes = ROUND.slice(0, most - done);
      const canaries = pushes.map(() => this.sentinels.canary());
      if (pushes.some((push, i) => this.diesOf(push, canaries[i]))) return true;
    }
    return false;
  }

  /** Without a canary, after too many in one job, nobody could tell. */
  private diesOf(push: () => void, canary: WeakRef<object> | undefined): boolean {
    if (canary === undefined) return false;
    this.reading.pushes++;
    try {
      push();
    } catch {
      // No room for it: the canary says whether it was enough.
    }
    return canary.deref() === undefined;
  }

  private failed(): void {
    if (++this.failures < GIVEN_UP || this.said) return;
    this.said = true;
    this.warn(
      '[ebb-tfjs] This browser does not collect when it is pressed; memory comes back when its finalizers run.',
    );
  }
}
