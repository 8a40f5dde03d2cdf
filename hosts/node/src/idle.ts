// When the program goes quiet, nothing would ask for a safe point: a timer that keeps no process alive
// looks after it.
import type { Books } from './books';

const INTERVAL_MS = 400;
/** A program that is never quiet gets a look, within the collector's share, this often. */
const BUSY_LOOKS = 75;

export class Idle {
  private timer: NodeJS.Timeout | undefined;
  private seen = 0;
  private collected = 0;
  private busy = 0;
  private once = false;

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
    const { births } = this.books;
    if (births !== this.seen) {
      this.seen = births;
      if (++this.busy % BUSY_LOOKS === 0) this.books.collect(true, true);
      else this.books.drain();
      this.arm();
    } else if (births !== this.collected) {
      this.collected = births;
      this.busy = 0;
      this.books.collect(true, false);
      this.once = true;
      this.arm();
    } else if (this.once) {
      // Once more: a compilation in another thread of V8 may have held something.
      this.once = false;
      this.books.collect(true, false);
    }
  }
}
