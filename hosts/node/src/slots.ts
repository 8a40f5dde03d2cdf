// What is known of each watched tensor once the tensor itself is gone, by slot, and the way from a
// tensor's id to its slot. Numbers throughout: nothing here is made for each tensor. What belongs together
// lies together, because kernels leave little of it in the caches.
import type { DataRecord } from './tfjs';

const NONE = -1;

/** Fields of a slot: a cache line of its own. */
const enum Field {
  Id,
  Size,
  Dtype,
  Site,
  /** Slots over the same data, so that one of them can always speak for it; the next free slot. */
  Next,
  Last,
  Stride = 8,
}

export class Slots {
  records: DataRecord[] = [];
  /** Names of those that are variables. */
  readonly names = new Map<number, string>();
  count = 0;

  private fields = new Float64Array(64 * Field.Stride);
  /** First of the free slots. */
  private free = NONE;
  private used = 0;
  // Open addressing: id, slot, id, slot, ... Ids are consecutive, so their low bits hash well.
  private table = new Float64Array(512).fill(NONE);
  private mask = 255;

  id(slot: number): number {
    return this.fields[slot * Field.Stride + Field.Id] as number;
  }

  size(slot: number): number {
    return this.fields[slot * Field.Stride + Field.Size] as number;
  }

  dtype(slot: number): number {
    return this.fields[slot * Field.Stride + Field.Dtype] as number;
  }

  site(slot: number): number {
    return this.fields[slot * Field.Stride + Field.Site] as number;
  }

  find(id: number): number {
    const { table, mask } = this;
    for (let i = id & mask; ; i = (i + 1) & mask) {
      const key = table[2 * i];
      if (key === id) return table[2 * i + 1] as number;
      if (key === NONE) return NONE;
    }
  }

  take(id: number, dtype: number, size: number, site: number, record: DataRecord): number {
    const slot = this.free === NONE ? this.used++ : this.free;
    if (slot * Field.Stride >= this.fields.length) this.grow();
    const { fields } = this;
    const at = slot * Field.Stride;
    if (slot === this.free) this.free = fields[at + Field.Next] as number;
    fields[at + Field.Id] = id;
    fields[at + Field.Size] = size;
    fields[at + Field.Dtype] = dtype;
    fields[at + Field.Site] = site;
    fields[at + Field.Next] = record.ebbSlot;
    fields[at + Field.Last] = NONE;
    if (record.ebbSlot !== NONE) fields[record.ebbSlot * Field.Stride + Field.Last] = slot;
    record.ebbSlot = slot;
    this.records[slot] = record;
    this.insert(id, slot);
    this.count++;
    return slot;
  }

  /** Frees a slot; returns the record of its data. */
  release(slot: number): DataRecord {
    const { fields } = this;
    const record = this.records[slot] as DataRecord;
    const at = slot * Field.Stride;
    const next = fields[at + Field.Next] as number;
    const last = fields[at + Field.Last] as number;
    if (next !== NONE) fields[next * Field.Stride + Field.Last] = last;
    if (last !== NONE) fields[last * Field.Stride + Field.Next] = next;
    else record.ebbSlot = next;
    this.remove(fields[at + Field.Id] as number);
    fields[at + Field.Id] = NONE;
    fields[at + Field.Next] = this.free;
    this.free = slot;
    this.records[slot] = EMPTY;
    if (this.names.size > 0) this.names.delete(slot);
    this.count--;
    return record;
  }

  /** Every live slot; for the few occasions that concern them all (`engine().reset()`). */
  *live(): Generator<number> {
    for (let slot = 0; slot < this.used; slot++) {
      if (this.id(slot) !== NONE) yield slot;
    }
  }

  private insert(id: number, slot: number): void {
    if (this.count * 2 >= this.mask) this.rehash();
    place(this.table, this.mask, id, slot);
  }

  /** Closes the gap by moving up what probed past it, so no tombstones gather. */
  private remove(id: number): void {
    const { table, mask } = this;
    let gap = id & mask;
    while (table[2 * gap] !== id) gap = (gap + 1) & mask;
    for (let i = (gap + 1) & mask; table[2 * i] !== NONE; i = (i + 1) & mask) {
      const home = (table[2 * i] as number) & mask;
      if (((i - home) & mask) < ((i - gap) & mask)) continue;
      table[2 * gap] = table[2 * i] as number;
      table[2 * gap + 1] = table[2 * i + 1] as number;
      gap = i;
    }
    table[2 * gap] = NONE;
  }

  private rehash(): void {
    const { table } = this;
    this.mask = this.mask * 2 + 1;
    this.table = new Float64Array(table.length * 2).fill(NONE);
    for (let i = 0; i < table.length; i += 2) {
      if (table[i] !== NONE) {
        place(this.table, this.mask, table[i] as number, table[i + 1] as number);
      }
    }
  }

  private grow(): void {
    const wider = new Float64Array(this.fields.length * 2);
    wider.set(this.fields);
    this.fields = wider;
  }
}

function place(table: Float64Array, mask: number, id: number, slot: number): void {
  let i = id & mask;
  while (table[2 * i] !== NONE) i = (i + 1) & mask;
  table[2 * i] = id;
  table[2 * i + 1] = slot;
}

const EMPTY = Object.freeze({}) as DataRecord;
