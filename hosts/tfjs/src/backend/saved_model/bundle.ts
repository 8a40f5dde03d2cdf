// Checkpoints: a sorted table of what there is (LevelDB's format), and shards with the bytes.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { BUNDLE_ENTRY, BUNDLE_HEADER, type BundleEntry, decode, DT } from './proto';
import { dimsOf, type Values, valuesOfBytes } from './values';

const FOOTER = 48;
const MAGIC = 0xdb4775248b80fb57n;

interface Block {
  offset: number;
  size: number;
}

function varints(bytes: Buffer, at: number, count: number): { found: number[]; next: number } {
  const found: number[] = [];
  while (found.length < count) {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('its index is truncated');
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) break;
    }
    found.push(value);
  }
  return { found, next: at };
}

function handleIn(bytes: Buffer, at: number): Block {
  const [offset, size] = varints(bytes, at, 2).found as [number, number];
  return { offset, size };
}

/** The entries of a block: keys share what they begin with. */
function* entriesOf(
  file: Buffer,
  { offset, size }: Block,
): Generator<[key: string, value: Buffer]> {
  if (offset + size + 1 > file.length) throw new Error('its index is truncated');
  if (file[offset + size] !== 0) throw new Error('its index is compressed');
  const block = file.subarray(offset, offset + size);
  const restarts = block.readUInt32LE(size - 4);
  const end = size - 4 - restarts * 4;
  let key = Buffer.alloc(0);
  for (let at = 0; at < end;) {
    const { found, next } = varints(block, at, 3);
    const [shared, rest, length] = found as [number, number, number];
    key = Buffer.concat([key.subarray(0, shared), block.subarray(next, next + rest)]);
    at = next + rest + length;
    yield [key.toString('utf8'), block.subarray(next + rest, at)];
  }
}

/** A checkpoint by its prefix: `variables/variables`. */
export class Bundle {
  private readonly entries = new Map<string, BundleEntry>();
  private shards = 1;

  constructor(private readonly prefix: string) {
    const file = readFileSync(`${prefix}.index`);
    const footer = file.length - FOOTER;
    if (footer < 0 || file.readBigUInt64LE(file.length - 8) !== MAGIC)
      throw new Error(`${prefix}.index is not the index of a checkpoint`);
    const { next } = varints(file, footer, 2); // past the block about blocks
    for (const [, handle] of entriesOf(file, handleIn(file, next))) {
      for (const [key, value] of entriesOf(file, handleIn(handle, 0))) this.add(key, value);
    }
  }

  /** The tensor of this name. */
  read(name: string): Values {
    const entry = this.entries.get(name);
    if (entry === undefined) throw new Error(`${this.prefix} has no tensor ${name}`);
    if (entry.slices !== undefined) throw new Error(`${name} is partitioned`);
    const { dtype = 0, shape, size = 0 } = entry;
    const bytes = Buffer.alloc(size);
    const file = openSync(this.shard(entry), 'r');
    try {
      const count = readSync(file, bytes, 0, size, entry.offset ?? 0);
      if (count !== size) throw new Error(`${name} is truncated`);
    } finally {
      closeSync(file);
    }
    const dims = dimsOf(shape);
    return dtype === DT.DT_STRING
      ? { dtype: 'string', shape: dims, values: strings(bytes, dims) }
      : valuesOfBytes(dtype, dims, bytes);
  }

  private add(key: string, value: Buffer): void {
    if (key !== '') {
      this.entries.set(key, decode<BundleEntry>(value, BUNDLE_ENTRY));
      return;
    }
    const header = decode<{ numShards?: number; endianness?: number }>(value, BUNDLE_HEADER);
    if (header.endianness) throw new Error(`${this.prefix} is of a big-endian machine`);
    this.shards = header.numShards ?? 1;
  }

  private shard({ shardId = 0 }: BundleEntry): string {
    const number = (value: number): string => String(value).padStart(5, '0');
    return `${this.prefix}.data-${number(shardId)}-of-${number(this.shards)}`;
  }
}

/** Lengths, a checksum, then the texts. */
function strings(bytes: Buffer, dims: number[]): Buffer[] {
  const count = dims.reduce((a, b) => a * b, 1);
  const { found, next } = varints(bytes, 0, count);
  let at = next + 4;
  return found.map((length) => bytes.subarray(at, (at += length)));
}
