// What `ebb run` does while the program runs. Growth is told from what is left after collections, and V8 may not collect
// for long; so a round collects now and then, for at most a hundredth of the time (a
// twentieth of the first ten seconds). Holders are looked for while they are
// there: what a finished function held is gone at the end.
import { performance } from 'node:perf_hooks';
import type { Hooks } from '../engine/hooks';
import { find, findSync } from './finding';
import { answerViewers, collectNow } from './viewers';

const FIRST_MS = 250;
/** A round for each so much of the time until then. */
const SHARE = 1 / 32;
/** Collecting takes at most this much of the time; in the first seconds more, or they would show nothing. */
const MOST_COLLECTING = 1 / 100;
const MOST_AT_FIRST = 1 / 20;
const FIRST_SECONDS_MS = 10_000;
/** When to look for holders first, and by how much later each time. */
const FIRST_LOOK_MS = 2500;
const LOOK_FACTOR = 2;

/** Programs and their tests put other clocks in its place. */
const clock = performance.now.bind(performance);

/** Rounds come at safe points, and by a timer where there are none: a loop may never let the event loop turn. */
export class Rounds {
  private readonly begun = clock();
  private readonly timer = setInterval(() => this.perhaps(), FIRST_MS).unref();
  private due = this.begun + FIRST_MS;
  private nextLook = this.begun + FIRST_LOOK_MS;
  private inside = false;
  /** A look that waits for the event loop. */
  private looking = false;
  private seen: Hooks | undefined;

  constructor(
    private readonly tool: string | undefined,
    private readonly file: string,
  ) {}

  stop(): void {
    clearInterval(this.timer);
    this.due = Infinity;
  }

  /** As soon as there is an engine. */
  attend(installed: Hooks): void {
    if (this.seen === installed) return;
    this.seen = installed;
    installed.books.afterSafePoint.add(() => this.perhaps());
  }

  private perhaps(): void {
    if (this.inside || clock() < this.due) return;
    this.inside = true;
    try {
      this.round();
    } finally {
      this.inside = false;
    }
  }

  private round(): void {
    answerViewers(this.file);
    const before = process.cpuUsage();
    collectNow();
    const { user, system } = process.cpuUsage(before); // on a busy machine the clock says more about the others
    const cost = (user + system) / 1000;
    const now = clock();
    const elapsed = now - this.begun;
    const most = elapsed < FIRST_SECONDS_MS ? MOST_AT_FIRST : MOST_COLLECTING;
    const wait = Math.max(FIRST_MS, elapsed * SHARE, cost / most);
    if (now >= this.nextLook && this.tool !== undefined) this.look(this.tool, now);
    if (this.due !== Infinity) this.due = clock() + wait;
  }

  /** What cannot be found now is said at the end, if it still cannot. */
  private look(tool: string, now: number): void {
    this.nextLook = this.begun + (now - this.begun) * LOOK_FACTOR;
    if (this.looking) {
      // The last one still waits for the event loop, which does not turn.
      try {
        findSync(tool, this.file);
      } catch {
        // as above
      }
      return;
    }
    this.looking = true;
    find(tool, this.file, true)
      .catch(() => {})
      .finally(() => (this.looking = false));
  }
}
