// An isolate's world: the arrays that it shares with the host, and the slots of what is watched. One for the isolate,
// whoever comes first: backend `ebb`, which makes data, or the books, which watch it.
import { type Host, host, ofIsolate } from '../host';
import { collectMajor, collectMinor } from '../node/collector';
import { Signal, Slate } from '../shared';
import { Slots } from './slots';

const QUEUE_LENGTH = 512;
const ENDED_LENGTH = 4096;
/** Data of this many bytes goes back at once, instead of with the next operation. */
const LARGE = 1 << 20;

export class World {
  readonly slots = new Slots();
  readonly slate = new Float64Array(Slate.SlateSize);
  readonly ended = new Uint32Array(ENDED_LENGTH);
  readonly signals = new Uint32Array(Signal.SignalCount);
  /** Set while a scope ends what it owns. */
  scoping = false;
  private readonly queue = new Float64Array(QUEUE_LENGTH);
  private readonly before: Array<() => void> = [];

  constructor(readonly host: Host) {
    host.open((kind) => this.collectHost(kind), this.slate, this.queue, this.ended, this.signals);
  }

  /** Calls this before each major collection, to let go of what only caches hold. */
  beforeMajor(letGo: () => void): void {
    this.before.push(letGo);
  }

  /** Makes the host's collector run. The core calls it too, in the middle of an operation: nothing else may run here. */
  collectHost(kind: number): void {
    if (kind === 0) {
      collectMinor();
      return;
    }
    for (const letGo of this.before) letGo();
    collectMajor();
  }

  /** Ends Ebb's own data that nobody watches. */
  end(handle: number, bytes: number): void {
    this.enqueue(handle);
    if (bytes >= LARGE) this.host.flush();
  }

  /** Ends what a slot watches; TensorFlow.js has. The slot is free. */
  endSlot(slot: number, bytes = 0): void {
    this.enqueue(-1 - (slot * 2 + (this.scoping ? 1 : 0)));
    this.slots.release(slot);
    if (bytes >= LARGE) this.host.flush();
  }

  private enqueue(entry: number): void {
    const { slate, queue } = this;
    let queued = slate[Slate.Queued] as number;
    if (queued === QUEUE_LENGTH) {
      this.host.flush();
      queued = 0;
    }
    queue[queued] = entry;
    slate[Slate.Queued] = queued + 1;
  }
}

export function world(): World {
  return (found ??= ofIsolate('world', () => new World(host())));
}

let found: World | undefined;
