// Minor collections before the budget asks for any: memory that comes back soon is still in the processor's
// caches, and a scavenge of the few objects in front of it costs less than fetching other memory.

/** Bytes by which tensors grow from one to the next. */
const STEP = 10 << 20;
/** Most of the time that they may take: while they find what they are for, and while they do not. */
const SHARE = 0.25;
const SHARE_IN_VAIN = 0.01;

export class EarlyCollections {
  /** Bytes of the data that is alive, as far as Ebb saw it being born. */
  held = 0;
  private collectAt = STEP;
  private next = 0;

  due(): boolean {
    this.collectAt = Math.min(this.collectAt, this.held + STEP);
    return this.held >= this.collectAt && performance.now() >= this.next;
  }

  /** `collect` returns what the collection cost, in milliseconds. */
  run(collect: () => number): void {
    const before = this.held;
    const start = performance.now();
    const cost = collect();
    const paid = before - this.held >= STEP / 2;
    this.next = start + cost / (paid ? SHARE : SHARE_IN_VAIN);
    this.collectAt = this.held + STEP;
  }
}
