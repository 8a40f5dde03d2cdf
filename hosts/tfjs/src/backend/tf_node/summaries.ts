// Scalars, histograms, pictures and text for TensorBoard.
import { appendFileSync, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  CustomCallback,
  type LayersModel,
  type Logs,
  type Tensor,
  type Tensor3D,
  type Tensor4D,
} from '@tensorflow/tfjs';
import { badArgument, checkOptions } from '../../errors';
import { double, doubles, float, nested, number, record, strings, text } from './events';
import { encodePng } from './pixels';

const EVENT = { wallTime: 1, step: 2, fileVersion: 3, summary: 5 };
const VALUE = { value: 1, tag: 1, simpleValue: 2, tensor: 8, metadata: 9 };
const METADATA = { plugin: 1, pluginName: 1, description: 3, dataClass: 4 };
/** DataClass of TensorBoard's summary.proto. */
const CLASS = { tensor: 2, blobs: 3 };
const BUCKETS = 30;

/** Numbers to rows of left edge, right edge and count, as TensorBoard's own histograms. */
function histogramOf(values: ArrayLike<number>, buckets: number): number[] {
  let [low, high] = [Infinity, -Infinity];
  const finite = Array.from(values).filter(Number.isFinite);
  for (const value of finite) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (finite.length === 0) return [];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const width = (high - low) / buckets;
  const counts = new Array<number>(buckets).fill(0);
  for (const value of finite) {
    const at = Math.min(Math.floor((value - low) / width), buckets - 1);
    counts[at] = (counts[at] as number) + 1;
  }
  return counts.flatMap((count, i) => [
    low + i * width,
    i === buckets - 1 ? high : low + (i + 1) * width,
    count,
  ]);
}

const numbersOf = (value: number | Tensor): ArrayLike<number> =>
  typeof value === 'number' ? [value] : value.dataSync();

export class SummaryFileWriter {
  private readonly file: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    const seconds = Math.floor(Date.now() / 1000);
    this.file = join(
      folder,
      `events.out.tfevents.${seconds}.${hostname()}.${process.pid}.${process.hrtime.bigint()}`,
    );
    this.write(text(EVENT.fileVersion, 'brain.Event:2'));
  }

  scalar(name: string, value: number | Tensor, step: number, description = ''): void {
    const parts = [float(VALUE.simpleValue, numbersOf(value)[0] as number)];
    if (description !== '')
      parts.push(nested(VALUE.metadata, text(METADATA.description, description)));
    this.summary('scalar', name, step, ...parts);
  }

  histogram(name: string, data: Tensor, step: number, buckets = BUCKETS, description = ''): void {
    if (!Number.isInteger(buckets) || buckets < 1)
      throw badArgument('histogram: buckets', buckets, 'a whole number from 1 on');
    const rows = histogramOf(numbersOf(data), buckets);
    const tensor = doubles(VALUE.tensor, [rows.length / 3, 3], rows);
    this.plugin('histogram', 'histograms', CLASS.tensor, name, step, tensor, description);
  }

  /** One picture, or several of one size, of numbers from 0 to 255. */
  async image(
    name: string,
    data: Tensor3D | Tensor4D,
    step: number,
    description = '',
  ): Promise<void> {
    const pictures = data.rank === 4 ? (data as Tensor4D).unstack<Tensor3D>() : [data as Tensor3D];
    const [height, width] = data.shape.slice(-3) as [number, number];
    const blobs = [String(width), String(height)].map((size): Uint8Array => Buffer.from(size));
    try {
      for (const picture of pictures) blobs.push(await encodePng(picture));
    } finally {
      if (data.rank === 4) for (const picture of pictures) picture.dispose();
    }
    const tensor = strings(VALUE.tensor, [blobs.length], blobs);
    this.plugin('image', 'images', CLASS.blobs, name, step, tensor, description);
  }

  text(name: string, value: string | string[], step: number, description = ''): void {
    const lines = [value].flat().map((line): Uint8Array => Buffer.from(line));
    const dims = Array.isArray(value) ? [lines.length] : [];
    const tensor = strings(VALUE.tensor, dims, lines);
    this.plugin('text', 'text', CLASS.tensor, name, step, tensor, description);
  }

  /** Each value is written at once: there is nothing to flush. */
  flush(): void {}

  private plugin(
    what: string,
    plugin: string,
    dataClass: number,
    name: string,
    step: number,
    tensor: Buffer,
    description: string,
  ): void {
    const metadata = nested(
      VALUE.metadata,
      nested(METADATA.plugin, text(METADATA.pluginName, plugin)),
      text(METADATA.description, description),
      number(METADATA.dataClass, dataClass),
    );
    this.summary(what, name, step, tensor, metadata);
  }

  private summary(what: string, name: string, step: number, ...parts: Buffer[]): void {
    if (!Number.isInteger(step) || step < 0)
      throw badArgument(`${what}: step`, step, 'a whole number from 0 on');
    const value = nested(VALUE.value, text(VALUE.tag, name), ...parts);
    this.write(Buffer.concat([number(EVENT.step, step), nested(EVENT.summary, value)]));
  }

  private write(fields: Buffer): void {
    appendFileSync(
      this.file,
      record(Buffer.concat([double(EVENT.wallTime, Date.now() / 1000), fields])),
    );
  }
}

const writers = new Map<string, SummaryFileWriter>();

/** A folder has one writer, as in tfjs-node. */
export function summaryFileWriter(folder: string): SummaryFileWriter {
  if (typeof folder !== 'string' || folder === '')
    throw badArgument('summaryFileWriter', folder, 'the path of a folder');
  let writer = writers.get(folder);
  if (writer === undefined) writers.set(folder, (writer = new SummaryFileWriter(folder)));
  return writer;
}

export interface TensorBoardOptions {
  updateFreq?: 'batch' | 'epoch';
  /** Histograms of the weights after each so many epochs; 0: none. */
  histogramFreq?: number;
  /** The same, written out. */
  histogramFrequency?: number;
}

const NOT_METRICS = ['batch', 'size', 'num', 'num_steps'];

/** A callback for `model.fit` that logs losses, metrics and weights for TensorBoard. */
export function tensorBoard(folder = './logs', options: TensorBoardOptions = {}): CustomCallback {
  checkOptions('tensorBoard', options, 'updateFreq', 'histogramFreq', 'histogramFrequency');
  const { updateFreq = 'epoch', histogramFrequency = 0 } = options;
  const { histogramFreq = histogramFrequency } = options;
  if (updateFreq !== 'batch' && updateFreq !== 'epoch') {
    throw badArgument('tensorBoard: updateFreq', updateFreq, "'batch' or 'epoch'");
  }
  if (!Number.isInteger(histogramFreq) || histogramFreq < 0)
    throw badArgument('tensorBoard: histogramFreq', histogramFreq, 'a whole number from 0 on');
  const writer = (set: string): SummaryFileWriter => summaryFileWriter(join(folder, set));
  const log = (prefix: string, logs: Logs | undefined, step: number): void => {
    for (const [name, value] of Object.entries(logs ?? {})) {
      if (NOT_METRICS.includes(name)) continue;
      const validation = name.startsWith('val_');
      const short = validation ? name.slice('val_'.length) : name;
      writer(validation ? 'val' : 'train').scalar(`${prefix}_${short}`, value as number, step);
    }
  };
  let batches = 0;
  let model: LayersModel | undefined;
  const callback = new CustomCallback({
    onBatchEnd: (_, logs) => {
      batches++;
      if (updateFreq === 'batch') log('batch', logs, batches);
    },
    onEpochEnd: (epoch, logs) => {
      log('epoch', logs, epoch + 1);
      if (histogramFreq === 0 || epoch % histogramFreq !== 0) return;
      for (const weight of model?.weights ?? [])
        writer('train').histogram(weight.name, weight.read(), epoch);
    },
  });
  callback.setModel = (trained) => (model = trained as unknown as LayersModel);
  return callback;
}
