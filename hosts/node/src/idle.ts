// When the program goes quiet, nothing would ask for a safe point: a timer that keeps no process alive
// looks after it.
import type { Books } from './books';

/** Four of these must fit into two seconds, on a machine that is late with each. */
const INTERVAL_MS = 300;
const QUIET_LOOKS = 3;
/** A program that is never quiet gets a look, within the collector's share, this often. */
const BUSY_LOOKS = 100;

export class Idle {
  private timer: NodeJS.Timeout | undefined;
  private seen = 0;
  private busy = 0;
  private quiet = 0;

  constructor(private readonly books: Books) {}

  /** Something was born: there may be something to give back once it is quiet. */
  arm(): void {
    if (this.timer === undefined) {
      this.timer = setTimeout(() => this.look(), INTERVAL_MS);
      this.timer.unref();
    }
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private look(): void {
    this.timer = undefined;
    if (!this.books.reclaiming()) return;
    const { births } = this.books;
    if (births !== this.seen) {
      this.seen = births;
      this.quiet = 0;
      if (++this.busy % BUSY_LOOKS === 0) this.books.collect(true, true);
      else this.books.drain();
      this.arm();
    } else if (++this.quiet <= QUIET_LOOKS) {
      // One quiet look may only mean that the process did not get the processor. And the second
      // collection is for what a compilation in another thread of V8 held during the first.
      if (this.quiet > 1) this.books.collect(true, false);
      this.busy = 0;
      this.arm();
    }
  }
}
