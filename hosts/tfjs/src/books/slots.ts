// What is known of each watched object once the object itself is gone, by slot, and the way from a
// tensor's id to its slot. Arrays of numbers throughout: nothing here is made for each tensor.
import type { DataRecord } from '../engine/tfjs';

const NONE = -1;

export const enum Kind {
  /** A tensor whose memory is another runtime's. */
  Foreign,
  /** One more tensor over data of Ebb's own. */
  View,
  /** Data of Ebb's own, and the first tensor over it, which is known by its id. */
  Data,
  /** The same once that tensor has ended, or has a slot of its own. */
  Alone,
}

export class Slots {
  records: DataRecord[] = [];
  /** Names of those that are variables. */
  private readonly names = new Map<number, string>();
  count = 0;

  private ids = new Float64Array(64);
  private sizes = new Float64Array(64);
  private sites = new Uint32Array(64);
  private dtypes = new Uint8Array(64);
  private kinds = new Uint8Array(64);
  private named = new Uint8Array(64);

  /** First of the free slots; `nextOfData` leads on. */
  private free = NONE;
  private used = 0;
  // Slots over the same data, so that one of them can always speak for it.
  private nextOfData = new Int32Array(64);
  private lastOfData = new Int32Array(64);
  // Open addressing by id; ids are consecutive, so their low bits hash well.
  private keys = new Float64Array(256).fill(NONE);
  private values = new Uint32Array(256);
  private mask = 255;

  id(slot: number): number {
    return this.ids[slot] as number;
  }

  size(slot: number): number {
    return this.sizes[slot] as number;
  }

  dtype(slot: number): number {
    return this.dtypes[slot] as number;
  }

  kind(slot: number): Kind {
    return this.kinds[slot] as Kind;
  }

  site(slot: number): number {
    return this.sites[slot] as number;
  }

  name(slot: number): string | undefined {
    return this.named[slot] === 0 ? undefined : this.names.get(slot);
  }

  setName(slot: number, name: string): void {
    this.named[slot] = 1;
    this.names.set(slot, name);
  }

  find(id: number): number {
    const { keys, mask } = this;
    for (let i = id & mask; ; i = (i + 1) & mask) {
      const key = keys[i];
      if (key === id) return this.values[i] as number;
      if (key === NONE) return NONE;
    }
  }

  take(
    kind: Kind,
    id: number,
    dtype: number,
    size: number,
    site: number,
    record: DataRecord,
  ): number {
    const slot = this.free === NONE ? this.used++ : this.free;
    if (slot === this.free) this.free = this.nextOfData[slot] as number;
    if (slot >= this.ids.length) this.grow();
    this.ids[slot] = id;
    this.sizes[slot] = size;
    this.dtypes[slot] = dtype;
    this.kinds[slot] = kind;
    this.sites[slot] = site;
    this.records[slot] = record;
    this.insert(id, slot);
    if (kind === Kind.Foreign) this.join(slot, record);
    else if (kind === Kind.Data) record.ebbSlot = slot;
    this.count++;
    return slot;
  }

  /** Data goes on without its first tensor. */
  leaveAlone(slot: number): void {
    this.remove(this.ids[slot] as number);
    this.kinds[slot] = Kind.Alone;
  }

  /** Frees a slot. */
  release(slot: number): void {
    const record = this.records[slot] as DataRecord;
    const kind = this.kinds[slot];
    if (kind === Kind.Foreign) this.leave(slot, record);
    else if (kind !== Kind.View) record.ebbSlot = NONE;
    if (kind !== Kind.Alone) this.remove(this.ids[slot] as number);
    this.ids[slot] = NONE;
    this.records[slot] = EMPTY;
    if (this.named[slot] !== 0) {
      this.named[slot] = 0;
      this.names.delete(slot);
    }
    this.nextOfData[slot] = this.free;
    this.free = slot;
    this.count--;
  }

  /** Every live slot; for the few occasions that concern them all (`engine().reset()`). */
  *live(): Generator<number> {
    for (let slot = 0; slot < this.used; slot++) {
      if (this.ids[slot] !== NONE) yield slot;
    }
  }

  private join(slot: number, record: DataRecord): void {
    const head = record.ebbSlot;
    this.nextOfData[slot] = head;
    this.lastOfData[slot] = NONE;
    if (head !== NONE) this.lastOfData[head] = slot;
    record.ebbSlot = slot;
  }

  private leave(slot: number, record: DataRecord): void {
    const next = this.nextOfData[slot] as number;
    const last = this.lastOfData[slot] as number;
    if (next !== NONE) this.lastOfData[next] = last;
    if (last !== NONE) this.nextOfData[last] = next;
    else record.ebbSlot = next;
  }

  private insert(id: number, slot: number): void {
    if (this.count * 2 >= this.mask) this.rehash();
    const { keys, mask } = this;
    let i = id & mask;
    while (keys[i] !== NONE) i = (i + 1) & mask;
    keys[i] = id;
    this.values[i] = slot;
  }

  /** Closes the gap by moving up what probed past it, so no tombstones gather. */
  private remove(id: number): void {
    const { keys, values, mask } = this;
    let gap = id & mask;
    while (keys[gap] !== id) gap = (gap + 1) & mask;
    for (let i = (gap + 1) & mask; keys[i] !== NONE; i = (i + 1) & mask) {
      const home = (keys[i] as number) & mask;
      if (((i - home) & mask) < ((i - gap) & mask)) continue;
      keys[gap] = keys[i] as number;
      values[gap] = values[i] as number;
      gap = i;
    }
    keys[gap] = NONE;
  }

  private rehash(): void {
    const { keys, values } = this;
    this.mask = this.mask * 2 + 1;
    this.keys = new Float64Array(this.mask + 1).fill(NONE);
    this.values = new Uint32Array(this.mask + 1);
    for (let old = 0; old < keys.length; old++) {
      const id = keys[old] as number;
      if (id === NONE) continue;
      let i = id & this.mask;
      while (this.keys[i] !== NONE) i = (i + 1) & this.mask;
      this.keys[i] = id;
      this.values[i] = values[old] as number;
    }
  }

  private grow(): void {
    const capacity = this.ids.length * 2;
    const wider = <T extends Float64Array | Uint32Array | Int32Array | Uint8Array>(old: T): T => {
      const array = new (old.constructor as new (length: number) => T)(capacity);
      array.set(old);
      return array;
    };
    this.ids = wider(this.ids);
    this.sizes = wider(this.sizes);
    this.sites = wider(this.sites);
    this.dtypes = wider(this.dtypes);
    this.kinds = wider(this.kinds);
    this.named = wider(this.named);
    this.nextOfData = wider(this.nextOfData);
    this.lastOfData = wider(this.lastOfData);
  }
}

const EMPTY = Object.freeze({}) as DataRecord;
