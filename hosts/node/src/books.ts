// One isolate's books: every tensor's birth and end is told to the core here, and what the core ends comes
// back here to be freed in TensorFlow.js.
import { deviceOf, forgetBackends } from './budget';
import { collectMajor, collectMinor } from './collector';
import { dtypeCode, dtypeOf } from './dtypes';
import { EarlyCollections } from './early';
import { type Native, REPORTED_AXES, Signal, Slate } from './native';
import { Slots } from './slots';
import {
  type Backend,
  bytesOf,
  type DataRecord,
  type Engine,
  isVariable,
  newRecord,
  OP_SUFFIX,
  type Tensor,
} from './tfjs';

const QUEUE_LENGTH = 512;
const ENDED_LENGTH = 4096;
/** Kernels between two looks at the core, which may want memory back for another isolate. */
const KERNELS_PER_LOOK = 128;
/** Bytes born between two looks at the core's budget. */
const BYTES_PER_LOOK = 1 << 20;

/** What the engine needs to know of a tensor to free it. */
interface Remains {
  id: number;
  dataId: object;
  dtype: string;
  size: number;
}

export class Books {
  readonly slots = new Slots();
  /** Called with each tensor that was given back, once it is. */
  onReclaimed: (slot: number) => void = () => {};
  /** Called before a major collection, to let go of what only caches hold. */
  beforeMajor: () => void = () => {};
  onBackend: (backend: Backend, device: number) => void = () => {};
  /** Set while a scope ends what it owns. */
  scoping = false;
  births = 0;

  private readonly slate = new Float64Array(Slate.Size);
  private readonly queue = new Uint32Array(QUEUE_LENGTH);
  private readonly ended = new Uint32Array(ENDED_LENGTH);
  private readonly signals = new Uint32Array(Signal.Count);
  private readonly remains: Remains = { id: 0, dataId: {}, dtype: '', size: 0 };
  private readonly unwatched: number[] = [];
  private unwatchedBytes = 0;
  private nextKey = 1;
  private lastBackend: Backend | undefined;
  private lastDevice = 0;
  private bytesBorn = 0;
  private readonly early = new EarlyCollections();
  private kernels = 0;

  constructor(
    private readonly native: Native,
    private readonly engine: Engine,
    private readonly dispose: (remains: Tensor) => void,
  ) {
    native.open((kind) => this.collectHost(kind), this.slate, this.queue, this.ended, this.signals);
  }

  /** Books a tensor that the engine has just tracked, and watches it. */
  born(tensor: Tensor, record: DataRecord, site: number): number {
    const { slate } = this;
    const { dtype, size, shape } = tensor;
    const code = dtypeCode(dtype);
    const first = record.ebbSlot < 0;
    const slot = this.slots.take(tensor.id, code, size, site, record);
    const bytes = bytesOf(dtype, size);
    slate[Slate.Slot] = slot;
    slate[Slate.Key] = record.ebbKey === 0 ? (record.ebbKey = this.nextKey++) : record.ebbKey;
    slate[Slate.Bytes] = bytes;
    slate[Slate.Device] = this.device(record.backend);
    slate[Slate.Dtype] = code;
    slate[Slate.Site] = site;
    const rank = Math.min(shape.length, REPORTED_AXES);
    slate[Slate.Rank] = rank;
    for (let i = 0; i < rank; i++) slate[Slate.Dims + i] = shape[i] as number;
    this.native.watch(tensor);
    this.bytesBorn += bytes;
    if (first) this.early.held += bytes;
    this.births++;
    if (isVariable(tensor)) this.slots.setName(slot, tensor.name);
    return slot;
  }

  /** Books what lived before anybody watched: one handle each, the bytes on the first. */
  bornBefore(count: number, bytes: number): void {
    if (count === 0) return;
    const backend = this.engine.backendInstance;
    const device = backend == null ? 0 : this.device(backend);
    if (device === 0) return;
    const record = newRecord(backend as Backend, {}, '', [], 0);
    for (let i = 0; i < count; i++) {
      const slot = this.slots.take(-2 - i, 0, 0, 0, record);
      this.slate.fill(0, 0, Slate.Queued);
      this.slate[Slate.Slot] = slot;
      this.slate[Slate.Key] = this.nextKey++;
      this.slate[Slate.Bytes] = i === 0 ? bytes : 0;
      this.slate[Slate.Device] = device;
      this.native.book();
      this.unwatched.push(slot);
    }
    this.unwatchedBytes = bytes;
  }

  /** The engine is about to dispose of this tensor. False: it had ended already. */
  ending(tensor: Tensor): boolean {
    const slot = this.slots.find(tensor.id);
    if (slot >= 0) {
      this.retire(slot);
      return true;
    }
    // Every live tensor has a slot, but for those born before: TensorFlow.js itself would free the data
    // of another tensor if it let a variable end twice.
    if (tensor.isDisposed || this.unwatched.length === 0) return false;
    if (this.engine.state.tensorInfo.has(tensor.dataId)) {
      this.endUnwatched(bytesOf(tensor.dtype, tensor.size));
    }
    return true;
  }

  /** The tensor in a slot, if it can still be reached. */
  tensor(slot: number): Tensor | undefined {
    return this.native.tensor(slot);
  }

  moved(record: DataRecord): void {
    const slot = record.ebbSlot;
    if (slot === undefined || slot < 0) return;
    const size = this.slots.size(slot);
    const bytes = record.dtype === 'string' ? record.bytes : bytesOf(record.dtype, size);
    this.native.flush();
    this.native.rebook(slot, this.device(record.backend), bytes);
  }

  /** The engine forgot everything it knew. */
  reset(): void {
    for (const slot of this.slots.live()) this.retire(slot);
    this.unwatched.length = 0;
    this.lastBackend = undefined;
    forgetBackends();
  }

  /** A safe point that costs next to nothing when there is nothing to do. */
  look(): void {
    if (++this.kernels >= KERNELS_PER_LOOK) this.drain();
    else this.lookAtBirth();
  }

  /** The same where a tensor is made from values: no kernel, so it does not count as one. */
  lookAtBirth(): void {
    if (this.signals[Signal.Notices] !== 0 || this.bytesBorn >= BYTES_PER_LOOK) this.drain();
  }

  /** A safe point if tensors have died since the last one. */
  lookForNotices(): void {
    if (this.signals[Signal.Notices] !== 0) this.drain();
  }

  reclaiming(): boolean {
    return this.native.reclaiming();
  }

  /** A safe point: no kernel runs. */
  drain(): void {
    this.kernels = 0;
    this.bytesBorn = 0;
    this.signals[Signal.Notices] = 0;
    this.settle(this.native.safePoint(this.lastDevice, 0));
    if (this.early.due() && !this.inTidy() && this.reclaiming()) {
      this.early.run(this.collectMinor);
    }
  }

  collect(major: boolean, rationed: boolean): void {
    if (!this.reclaiming()) {
      // The core leaves the collector alone while reclaim is off; whoever asks for one gets it.
      if (!rationed) this.collectHost(major ? 1 : 0);
      this.drain();
      return;
    }
    this.signals[Signal.Notices] = 0;
    this.settle(this.native.collect(major, rationed));
  }

  /** The whole ladder; throws the error that names the sites if nothing came back. */
  makeRoom(device: number, bytes: number): void {
    this.signals[Signal.Notices] = 0;
    this.settle(this.native.makeRoom(device, bytes));
  }

  device(backend: Backend): number {
    if (backend === this.lastBackend) return this.lastDevice;
    this.lastBackend = backend;
    this.lastDevice = deviceOf(this.engine, backend, (device) => this.onBackend(backend, device));
    return this.lastDevice;
  }

  /** What is made in a tidy comes back at its end: collecting would be for little. */
  private inTidy(): boolean {
    const [outermost] = this.engine.state.scopeStack;
    return outermost !== undefined && !outermost.name.endsWith(OP_SUFFIX);
  }

  private readonly collectMinor = (): number => {
    this.collect(false, false);
    return (this.signals[Signal.CollectUs] as number) / 1000;
  };

  private collectHost(kind: number): void {
    if (kind === 0) {
      collectMinor();
      return;
    }
    this.beforeMajor();
    collectMajor();
  }

  private retire(slot: number): void {
    const { slate, queue } = this;
    let queued = slate[Slate.Queued] as number;
    if (queued === QUEUE_LENGTH) {
      this.native.flush();
      queued = 0;
    }
    queue[queued] = slot * 2 + (this.scoping ? 1 : 0);
    slate[Slate.Queued] = queued + 1;
    this.release(slot);
  }

  private release(slot: number): void {
    const record = this.slots.release(slot);
    if (record.ebbSlot < 0) this.early.held -= record.bytes;
  }

  private endUnwatched(bytes: number): void {
    const [carrier] = this.unwatched;
    const slot = this.unwatched.pop() as number;
    if (slot !== carrier && carrier !== undefined) {
      this.unwatchedBytes = Math.max(0, this.unwatchedBytes - bytes);
      this.native.rebook(carrier, 0, this.unwatchedBytes);
    }
    this.retire(slot);
  }

  private settle(count: number): void {
    while (count > 0) {
      for (let i = 0; i < count; i++) this.giveBack(this.ended[i] as number);
      count = count === ENDED_LENGTH ? this.native.takeEnded() : 0;
    }
    if (this.signals[Signal.Warnings] !== 0) {
      process.emitWarning(this.native.takeWarning(), {
        type: 'EbbWarning',
        code: 'EBB_OVER_BUDGET',
      });
    }
  }

  private giveBack(slot: number): void {
    const { slots, remains } = this;
    const record = slots.records[slot] as DataRecord;
    remains.id = slots.id(slot);
    remains.dataId = record.ebbDataId;
    remains.dtype = dtypeOf(slots.dtype(slot), record);
    remains.size = slots.size(slot);
    try {
      this.dispose(remains as Tensor);
      this.onReclaimed(slot);
    } catch {
      // The backend is gone, and the memory with it.
    }
    this.release(slot);
    remains.dataId = NOTHING;
  }
}

const NOTHING = {};
