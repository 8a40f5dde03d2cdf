// When the program goes quiet, nothing would ask for a safe point: a timer that keeps no process alive
// looks after it.
import type { Books } from './books';

const INTERVAL_MS = 500;

export class Idle {
  private timer: NodeJS.Timeout | undefined;
  private seen = 0;
  private collected = 0;

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
      this.books.collect(true, true);
      this.arm();
    } else if (births !== this.collected) {
      this.collected = births;
      this.books.collect(true, false);
    }
  }
}
