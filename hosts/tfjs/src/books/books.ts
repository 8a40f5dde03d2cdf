// An engine's books: every tensor's birth and end is told to the core here, and what ends there comes back here to be
// ended in TensorFlow.js.
import {
  type Backend,
  bytesOf,
  countedBytes,
  type DataId,
  type DataRecord,
  type Engine,
  isVariable,
  newRecord,
  OP_SUFFIX,
  type OwnData,
  type Tensor,
} from '../engine/tfjs';
import { host } from '../host';
import { warnPeople } from '../node/warnings';
import { MOST_AXES, Signal, Slate } from '../shared';
import { beginBudget, foreignDevice } from './devices';
import { dtypeCode, dtypeOf } from './dtypes';
import { Kind, type Slots } from './slots';
import type { World } from './world';

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
  readonly slots: Slots;
  /** Called with each tensor that was given back, once it is. */
  onReclaimed: (slot: number) => void = () => {};
  onBackend: (backend: Backend) => void = () => {};
  /** Says what data has of its device, where a backend's elements do not tell. */
  bytesBehind: ((backend: Backend, dataId: DataId) => number | undefined) | undefined;
  /** Called at each safe point, once the dead are given back. */
  onDrained: () => void = () => {};
  /** Called after each safe point: what is due now and then also where the event loop never turns. */
  readonly afterSafePoint = new Set<() => void>();
  /** Tensors over Ebb's own data that were there before anybody watched. */
  unwatchedOwn = 0;

  private readonly host = host();
  private readonly released = this.host.released;
  private readonly remains: Remains = { id: 0, dataId: NOTHING, dtype: '', size: 0 };
  private readonly unwatched: number[] = [];
  private unwatchedBytes = 0;
  private nextKey = 1;
  private backends = new WeakMap<Backend, number>();
  private lastBackend: Backend | undefined;
  private lastDevice = 0;
  private bytesBorn = 0;
  /** Slots of data that has got a second tensor. */
  private shared: number[] = [];
  private kernels = 0;

  constructor(
    readonly world: World,
    private readonly engine: Engine,
    private readonly dispose: (remains: Tensor) => void,
  ) {
    this.slots = world.slots;
  }

  /** Books a tensor that the engine has just tracked, and watches it. One that cannot be watched ends at once. */
  born(tensor: Tensor, record: DataRecord, site: number): void {
    record.ebbBooks = this;
    const device = this.device(record.backend);
    const isOwn = record.backend.runtime !== undefined;
    try {
      const slot =
        isOwn && (tensor.dataId as OwnData).handle > 0
          ? this.bornOwn(tensor, record, site)
          : this.bornForeign(tensor, record, site, device);
      if (isVariable(tensor)) this.slots.setName(slot, tensor.name);
    } catch (error) {
      this.unborn(tensor, record);
      throw error;
    }
  }

  /** It could not be watched, so nobody would hear of its death. */
  private unborn(tensor: Tensor, record: DataRecord): void {
    const slot = this.slots.find(tensor.id);
    const data = tensor.dataId as unknown as OwnData;
    if (slot >= 0 && data.slot === slot) {
      data.slot = -1;
      data.first = undefined;
      record.ebbDataId = tensor.dataId;
    }
    if (slot >= 0) this.slots.release(slot);
    this.dispose(tensor);
  }

  private bornOwn(tensor: Tensor, record: DataRecord, site: number): number {
    const { slate } = this.world;
    const { dtype, size, id } = tensor;
    const data = tensor.dataId as unknown as OwnData;
    const isFirst = data.slot < 0 && data.refCount === 1;
    const kind = isFirst ? Kind.Data : Kind.View;
    const slot = this.slots.take(kind, id, dtypeCode(dtype), size, site, record);
    slate[Slate.Slot] = slot;
    slate[Slate.Site] = site;
    if (isFirst) {
      record.ebbDataId = undefined; // what is watched must not be held
      data.slot = slot;
      data.first = tensor;
      slate[Slate.Key] = data.handle;
      this.host.watchOwn(data);
      this.bytesBorn += record.bytes;
    } else {
      if (data.first !== undefined) this.shared.push(data.slot);
      slate[Slate.Key] = 0;
      this.host.watchOwn(tensor);
    }
    return slot;
  }

  private bornForeign(tensor: Tensor, record: DataRecord, site: number, device: number): number {
    const { slate } = this.world;
    const { dtype, size, shape, id } = tensor;
    const code = dtypeCode(dtype);
    const slot = this.slots.take(Kind.Foreign, id, code, size, site, record);
    const bytes = this.foreignBytes(record, bytesOf(dtype, size));
    slate[Slate.Slot] = slot;
    slate[Slate.Key] = record.ebbKey === 0 ? (record.ebbKey = this.nextKey++) : record.ebbKey;
    slate[Slate.Bytes] = bytes;
    slate[Slate.Device] = device || foreignDevice(this.engine, record.backend);
    slate[Slate.Dtype] = code;
    slate[Slate.Site] = site;
    const rank = Math.min(shape.length, MOST_AXES);
    slate[Slate.Rank] = rank;
    for (let i = 0; i < rank; i++) slate[Slate.Dims + i] = shape[i] as number;
    this.host.watch(tensor);
    this.bytesBorn += bytes;
    return slot;
  }

  /** What is booked for data on the foreign path. On Ebb's own backends that is text; the rest has handles there. */
  private foreignBytes({ backend, dtype, ebbDataId }: DataRecord, bytes: number): number {
    if (backend.runtime !== undefined) return dtype === 'string' ? bytes : 0;
    if (this.bytesBehind === undefined || ebbDataId === undefined) return bytes;
    return this.bytesBehind(backend, ebbDataId) ?? bytes;
  }

  /** Books what lived before anybody watched: one handle each, the bytes on the first. */
  bornBefore(count: number, bytes: number): void {
    const backend = this.engine.backendInstance;
    if (count === 0 || backend == null) return;
    const device = this.device(backend);
    if (device === 0) {
      this.unwatchedOwn = count; // their data is in the core's books
      return;
    }
    const { slate } = this.world;
    const record = newRecord(backend, {}, '', [], 0);
    record.ebbBooks = this;
    for (let i = 0; i < count; i++) {
      const slot = this.slots.take(Kind.Foreign, -2 - i, 0, 0, 0, record);
      slate.fill(0, 0, Slate.Queued);
      slate[Slate.Slot] = slot;
      slate[Slate.Key] = this.nextKey++;
      slate[Slate.Bytes] = i === 0 ? bytes : 0;
      slate[Slate.Device] = device;
      this.host.book();
      this.unwatched.push(slot);
    }
    this.unwatchedBytes = bytes;
  }

  /** The engine is about to dispose of this tensor. False: it had ended already. */
  ending(tensor: Tensor): boolean {
    const { slots } = this;
    const slot = slots.find(tensor.id);
    if (slot >= 0) {
      const kind = slots.kind(slot);
      if (kind === Kind.Data) this.leave(tensor, slot);
      else {
        this.released?.(tensor);
        this.world.endSlot(slot);
      }
      // This one may be held on, and with it the data id, when the others have died.
      if (kind === Kind.View) this.part((tensor.dataId as unknown as OwnData).slot);
      return true;
    }
    // Every live tensor has a slot, but for those born before: TensorFlow.js itself would free the data
    // of another tensor if it let a variable end twice.
    if (tensor.isDisposed || this.unwatched.length + this.unwatchedOwn === 0) return false;
    if (this.engine.state.tensorInfo.has(tensor.dataId)) {
      this.endUnwatched(bytesOf(tensor.dtype, tensor.size));
    }
    return true;
  }

  /** The first tensor leaves its data, which ends with the last: the backend says so. */
  private leave(first: Tensor, slot: number): void {
    this.slots.leaveAlone(slot);
    (first.dataId as unknown as OwnData).first = undefined;
  }

  /** The tensor in a slot, if it can still be reached. */
  tensor(slot: number): Tensor | undefined {
    const object = this.host.object(slot);
    return this.slots.kind(slot) === Kind.Data
      ? (object as OwnData | undefined)?.first
      : (object as Tensor | undefined);
  }

  /** The size of this data is known now. */
  sized(record: DataRecord): void {
    const slot = record.ebbSlot;
    if (slot === undefined || slot < 0 || this.slots.kind(slot) !== Kind.Foreign) return;
    const { dtype, bytes } = record;
    const known = dtype === 'string' ? bytes : bytesOf(dtype, this.slots.size(slot));
    const device = foreignDevice(this.engine, record.backend);
    this.host.rebook(slot, device, this.foreignBytes(record, known));
  }

  /** Data goes to another backend; `move` moves it. */
  moving(dataId: DataId, move: () => void): void {
    const record = this.engine.state.tensorInfo.get(dataId);
    const data = dataId as OwnData;
    const watched = record !== undefined && data.slot >= 0 ? this.tensorsOver(data, record) : [];
    move();
    if (record === undefined) return;
    for (const [tensor, site] of watched) {
      const slot = this.slots.find(tensor.id);
      if (slot >= 0) this.world.endSlot(slot);
      record.ebbDataId = dataId;
      this.born(tensor, record, site);
    }
    this.sized(record);
  }

  /** The tensors over data that is watched, each with its site. */
  private tensorsOver(data: OwnData, record: DataRecord): Array<[Tensor, number]> {
    const { slots } = this;
    const found: Array<[Tensor, number]> = [];
    if (data.first !== undefined) found.push([data.first, slots.site(data.slot)]);
    for (const slot of slots.live()) {
      if (slots.records[slot] !== record || slots.kind(slot) !== Kind.View) continue;
      const tensor = this.tensor(slot);
      if (tensor !== undefined) found.push([tensor, slots.site(slot)]);
    }
    return found;
  }

  /** The engine forgot everything it knew. */
  reset(): void {
    for (const slot of this.slots.live()) {
      if (this.slots.records[slot]?.ebbBooks === this) this.world.endSlot(slot);
    }
    this.unwatched.length = this.unwatchedOwn = 0;
    this.lastBackend = undefined;
    this.backends = new WeakMap();
  }

  /** A safe point that costs next to nothing when there is nothing to do. */
  look(): void {
    if (++this.kernels >= KERNELS_PER_LOOK) this.drain();
    else this.lookAtBirth();
  }

  /**
   * The same where a tensor is made from values: no kernel, so it does not count as one. `upcoming`: its bytes, which a
   * strict budget refuses before the backend has them.
   */
  lookAtBirth(upcoming = 0): void {
    const { signals } = this.world;
    if (signals[Signal.Notices] !== 0 || this.bytesBorn + upcoming >= BYTES_PER_LOOK)
      this.drain(upcoming);
  }

  /**
   * A running kernel is about to allocate: what is large meets the budget before. Its operands are held by `Calls`.
   * Ebb's own backends ask the core themselves.
   */
  lookInKernel(backend: Backend, size: number, dtype: string): void {
    const upcoming = bytesOf(dtype, size);
    if (upcoming >= BYTES_PER_LOOK && this.device(backend) !== 0) this.drain(upcoming);
  }

  /** A safe point if tensors have died since the last one. */
  lookForNotices(): void {
    if (this.world.signals[Signal.Notices] !== 0) this.drain();
  }

  reclaiming(): boolean {
    return this.host.reclaiming();
  }

  /** A safe point: no kernel runs. */
  drain(upcoming = 0): void {
    this.kernels = 0;
    this.bytesBorn = 0;
    this.world.signals[Signal.Notices] = 0;
    this.giveBackEnded(this.host.safePoint(this.lastDevice, upcoming, this.inTidy()));
    this.onDrained();
    if (this.afterSafePoint.size > 0) for (const call of this.afterSafePoint) call();
  }

  /** A look from a timer. Milliseconds until the next; 0: not before something is born. */
  idle(): number {
    this.parts();
    this.world.signals[Signal.Notices] = 0;
    this.giveBackEnded(this.host.idle());
    return this.world.slate[Slate.AgainMs] as number;
  }

  collect(major: boolean, rationed: boolean): void {
    if (major) this.parts();
    if (!this.reclaiming()) {
      // The core leaves the collector alone while reclaim is off; whoever asks for one gets it.
      if (!rationed) this.world.collectHost(major ? 1 : 0);
      this.drain();
      return;
    }
    this.world.signals[Signal.Notices] = 0;
    this.giveBackEnded(this.host.collect(major, rationed));
  }

  /** The whole ladder; throws the error that names the sites if nothing came back. */
  makeRoom(backend: Backend, bytes: number): void {
    this.world.signals[Signal.Notices] = 0;
    this.giveBackEnded(this.host.makeRoom(foreignDevice(this.engine, backend), bytes));
  }

  /** The core's device of another runtime's backend; 0 for Ebb's own. */
  private device(backend: Backend): number {
    if (backend === this.lastBackend) return this.lastDevice;
    let device = this.backends.get(backend);
    if (device === undefined) {
      device = beginBudget(this.engine, backend);
      this.backends.set(backend, device);
      this.onBackend(backend);
    }
    this.lastBackend = backend;
    return (this.lastDevice = device);
  }

  private parts(): void {
    const { shared } = this;
    this.shared = [];
    for (const slot of shared) this.part(slot);
  }

  /** Where data has several tensors, the first gets a slot of its own, so that it may die before the others. */
  private part(slot: number): void {
    const { slots } = this;
    const first = slot >= 0 && slots.kind(slot) === Kind.Data ? this.tensor(slot) : undefined;
    if (first === undefined || (first.dataId as unknown as OwnData).refCount < 2) return;
    const name = slots.name(slot);
    this.leave(first, slot);
    const own = this.bornOwn(first, slots.records[slot] as DataRecord, slots.site(slot));
    if (name !== undefined) slots.setName(own, name);
  }

  /**
   * What is made in a tidy comes back at its end: collecting would be for little. One that was so long that it has been
   * swept may be a `startScope` whose end was forgotten.
   */
  private inTidy(): boolean {
    const [outermost] = this.engine.state.scopeStack;
    return (
      outermost !== undefined &&
      outermost.sweepAt === undefined &&
      !outermost.name.endsWith(OP_SUFFIX)
    );
  }

  private endUnwatched(bytes: number): void {
    if (this.unwatchedOwn > 0) {
      this.unwatchedOwn--;
      return;
    }
    const [carrier] = this.unwatched;
    const slot = this.unwatched.pop() as number;
    if (slot !== carrier && carrier !== undefined) {
      this.unwatchedBytes = Math.max(0, this.unwatchedBytes - bytes);
      this.host.rebook(carrier, 0, this.unwatchedBytes);
    }
    this.world.endSlot(slot);
  }

  private giveBackEnded(count: number): void {
    const { ended, signals } = this.world;
    const { records } = this.slots;
    while (count > 0) {
      for (let i = 0; i < count; i++) {
        const slot = ended[i] as number;
        records[slot]?.ebbBooks?.giveBack(slot);
      }
      count = count === ended.length ? this.host.takeEnded() : 0;
    }
    if (signals[Signal.Warnings] !== 0) {
      warnPeople(this.host.takeWarning());
    }
  }

  /** Ends in TensorFlow.js what a slot watched: a tensor, or data with its first tensor. */
  giveBack(slot: number): void {
    const { slots, engine } = this;
    const record = slots.records[slot] as DataRecord;
    const kind = slots.kind(slot);
    const dataId =
      kind === Kind.View && record.ebbDataId === undefined && record.ebbSlot >= 0
        ? this.host.object(record.ebbSlot)
        : record.ebbDataId;
    if (dataId !== undefined) this.disposeRemains(slot, record, dataId);
    else if (kind !== Kind.Alone) this.uncount(slot, record);
    if (kind !== Kind.Alone) this.onReclaimed(slot);
    if (kind >= Kind.Data) {
      engine.state.numDataBuffers--;
      record.backend.died?.();
    }
    this.slots.release(slot);
  }

  private disposeRemains(slot: number, record: DataRecord, dataId: DataId): void {
    const { slots, remains } = this;
    remains.id = slots.id(slot);
    remains.dataId = dataId;
    remains.dtype = dtypeOf(slots.dtype(slot), record);
    remains.size = slots.size(slot);
    try {
      this.dispose(remains as Tensor);
    } catch {
      // The backend is gone, and the memory with it.
    }
    remains.dataId = NOTHING;
  }

  /** The data of this tensor is dead as well: nothing is left but its count. */
  private uncount(slot: number, record: DataRecord): void {
    const { state } = this.engine;
    state.numTensors--;
    state.numBytes -= countedBytes(dtypeOf(this.slots.dtype(slot), record), this.slots.size(slot));
  }
}

const NOTHING = {};
