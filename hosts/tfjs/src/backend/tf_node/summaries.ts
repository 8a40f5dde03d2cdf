// Scalars for TensorBoard: event files, one record a value.
import { appendFileSync, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { CustomCallback, Logs } from '@tensorflow/tfjs';
import { badArgument, checkOptions } from '../../errors';

// ---- the container: length, checksum, data, checksum

const CASTAGNOLI = 0x82f63b78;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ CASTAGNOLI : value >>> 1;
  return value;
});

/** CRC-32C, rotated and shifted as the format wants it. */
function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 255] as number) ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function record(data: Buffer): Buffer {
  const framed = Buffer.alloc(data.length + 16);
  framed.writeBigUInt64LE(BigInt(data.length), 0);
  framed.writeUInt32LE(checksum(framed.subarray(0, 8)), 8);
  data.copy(framed, 12);
  framed.writeUInt32LE(checksum(data), data.length + 12);
  return framed;
}

// ---- the events: protocol buffers of a few fields

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

const tag = (field: number, wire: number): Buffer => varint(field * 8 + wire);

function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(field, 1), bytes]);
}

function float(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([tag(field, 5), bytes]);
}

const nested = (field: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([tag(field, 2), varint(body.length), body]);
};

const EVENT = { wallTime: 1, step: 2, fileVersion: 3, summary: 5 };
const VALUE = { value: 1, tag: 1, simpleValue: 2 };

export class SummaryFileWriter {
  private readonly file: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    const seconds = Math.floor(Date.now() / 1000);
    this.file = join(
      folder,
      `events.out.tfevents.${seconds}.${hostname()}.${process.pid}.${process.hrtime.bigint()}`,
    );
    this.write(nested(EVENT.fileVersion, Buffer.from('brain.Event:2')));
  }

  scalar(name: string, value: number | { dataSync(): ArrayLike<number> }, step: number): void {
    if (!Number.isInteger(step) || step < 0) {
      throw badArgument('scalar: step', step, 'a whole number from 0 on');
    }
    const number = typeof value === 'number' ? value : (value.dataSync()[0] as number);
    const one = nested(
      VALUE.value,
      nested(VALUE.tag, Buffer.from(name)),
      float(VALUE.simpleValue, number),
    );
    this.write(Buffer.concat([tag(EVENT.step, 0), varint(step), nested(EVENT.summary, one)]));
  }

  /** Each value is written at once: there is nothing to flush. */
  flush(): void {}

  private write(fields: Buffer): void {
    appendFileSync(
      this.file,
      record(Buffer.concat([double(EVENT.wallTime, Date.now() / 1000), fields])),
    );
  }
}

export function summaryFileWriter(folder: string): SummaryFileWriter {
  return new SummaryFileWriter(folder);
}

export interface TensorBoardOptions {
  updateFreq?: 'batch' | 'epoch';
}

/** A callback for `model.fit` that logs losses and metrics for TensorBoard. */
export function tensorBoard(folder = './logs', options: TensorBoardOptions = {}): CustomCallback {
  checkOptions('tensorBoard', options, 'updateFreq');
  const { updateFreq = 'epoch' } = options;
  if (updateFreq !== 'batch' && updateFreq !== 'epoch') {
    throw badArgument('tensorBoard: updateFreq', updateFreq, "'batch' or 'epoch'");
  }
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- it is loaded already
  const { CustomCallback } = require('@tensorflow/tfjs') as typeof import('@tensorflow/tfjs');
  const writers = new Map<string, SummaryFileWriter>();
  const writer = (set: string): SummaryFileWriter => {
    let found = writers.get(set);
    if (found === undefined) writers.set(set, (found = new SummaryFileWriter(join(folder, set))));
    return found;
  };
  const log = (prefix: string, logs: Logs | undefined, step: number): void => {
    for (const [name, value] of Object.entries(logs ?? {})) {
      if (name === 'batch' || name === 'size' || name === 'num') continue;
      const validation = name.startsWith('val_');
      const short = validation ? name.slice('val_'.length) : name;
      writer(validation ? 'val' : 'train').scalar(`${prefix}_${short}`, value as number, step);
    }
  };
  let batches = 0;
  return new CustomCallback({
    onBatchEnd: (_, logs) => {
      if (updateFreq === 'batch') log('batch', logs, batches++);
    },
    onEpochEnd: (epoch, logs) => log('epoch', logs, epoch + 1),
  });
}
