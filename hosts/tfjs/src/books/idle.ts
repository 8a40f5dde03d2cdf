// When the program goes quiet, nothing would ask for a safe point: a timer that keeps no process alive does.
import type { Books } from './books';

/** From a birth to the first look; the core says when the next one is due. */
const FIRST_MS = 300;

export class Idle {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly books: Books) {}

  /** Something was born: there may be something to give back once it is quiet. */
  arm(ms = FIRST_MS): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => this.look(), ms);
    (this.timer as { unref?(): void }).unref?.(); // a browser has none, and no process to keep alive
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private look(): void {
    this.timer = undefined;
    if (!this.books.reclaiming()) return;
    const again = this.books.idle();
    if (again > 0) this.arm(again);
  }
}
