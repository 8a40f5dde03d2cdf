// When the program goes quiet, nothing would ask for a safe point: a timer that keeps no process alive does.
import type { Books } from './books';

/** From a birth to the first look; the core says when the next one is due. */
const FIRST_MS = 300;
/** From the last look that had anything to do until the program counts as left alone. */
const QUIET_MS = 30_000;

type Timer = ReturnType<typeof setTimeout>;

/** A timer for which no process stays; a browser has no such thing, and no process to keep alive. */
function unheld(timer: Timer): Timer {
  (timer as { unref?(): void }).unref?.();
  return timer;
}

export class Idle {
  private timer: Timer | undefined;
  private quiet: Timer | undefined;

  /** `leftAlone`: nothing was born for a while. */
  constructor(
    private readonly books: Books,
    private readonly leftAlone: () => void,
  ) {}

  /** Something was born: there may be something to give back once it is quiet. */
  arm(ms = FIRST_MS): void {
    if (this.timer !== undefined) return;
    this.timer = unheld(setTimeout(() => this.look(), ms));
  }

  stop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.quiet);
    this.timer = undefined;
  }

  private look(): void {
    this.timer = undefined;
    if (!this.books.reclaiming()) return;
    const again = this.books.idle();
    if (again > 0) this.arm(again);
    clearTimeout(this.quiet);
    this.quiet = unheld(setTimeout(() => this.rest(), QUIET_MS));
  }
  /** Whatever is born arms the timer, so nothing was unless that waits. */
  private rest(): void {
    if (this.timer === undefined && this.books.reclaiming()) this.leftAlone();
  }
}
