// Pictures to tensors and back, as tfjs-node does it: JPEG and PNG in the addon, BMP and GIF here.
import {
  engine,
  reshape,
  slice,
  type Tensor3D,
  type Tensor4D,
  tensor3d,
  tensor4d,
  tidy,
} from '@tensorflow/tfjs-core';
import { badArgument, EbbError } from '../../errors';
import { type Host, host } from '../../host';
import { EbbBackend } from '../backend';
import { readBmp } from './bmp';

/** Numbers from 0 to 255, row by row. */
export interface Pixels {
  values: Int32Array;
  shape: [height: number, width: number, channels: number];
}

interface Gif {
  width: number;
  height: number;
  numFrames(): number;
  decodeAndBlitFrameRGBA(frame: number, pixels: Uint8Array): void;
}
interface GifModule {
  GifReader: new (bytes: Uint8Array) => Gif;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- most programs never need it
const gif = (): GifModule => require('omggif') as GifModule;

/** As the addon counts them. */
const enum Kind {
  Jpeg,
  Png,
}

/** The host's part of it. */
function pictures(): Required<Pick<Host, Functions>> {
  const there = host();
  if (there.pictureOpen === undefined)
    throw new EbbError(
      'EBB_UNSUPPORTED',
      '[tf.node] This addon was built without libjpeg-turbo and libpng (EBB_NODE_PICTURES).',
    );
  return there as Required<Pick<Host, Functions>>;
}
type Functions = 'pictureOpen' | 'pictureShape' | 'pictureDecode' | 'pictureEncode';

function checkAmong<T>(what: string, value: T, allowed: readonly T[]): void {
  if (allowed.includes(value)) return;
  const words = allowed.map((each) => (typeof each === 'string' ? `'${each}'` : String(each)));
  throw badArgument(what, value, words.join(', '));
}

function checkDtype(op: string, dtype: string): void {
  checkAmong(`${op}: dtype`, dtype, ['int32']);
}

function checkBytes(op: string, contents: unknown): void {
  if (!(contents instanceof Uint8Array) && !ArrayBuffer.isView(contents))
    throw badArgument(op, contents, 'the bytes of a picture, as a Uint8Array');
}

function unreadable(op: string, kind: string, error: unknown): EbbError {
  const why = (error as Error).message;
  return new EbbError(
    'EBB_INVALID_ARGUMENT',
    `[${op}] Received bytes that cannot be read (${why}); allowed: a ${kind}.`,
    { cause: error },
  );
}

/** What a library makes of the bytes, or an error that says whose bytes they were. */
function reading<T>(op: string, kind: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(op, kind, error);
  }
}

const toTensor = ({ values, shape }: Pixels): Tensor3D => tensor3d(values, shape, 'int32');

// ---- JPEG and PNG

let last: WeakRef<Int32Array> | undefined;

/**
 * An array for samples that are copied at once: the one of the picture before, unless that was collected. The pages of a
 * new one take a third of the time that a picture of 12 megapixels takes.
 */
function roomFor(count: number): Int32Array {
  if (!(engine().backend instanceof EbbBackend)) return new Int32Array(count); // others keep what they are given
  const array = last?.deref();
  if (array !== undefined && array.length >= count) return array.subarray(0, count);
  const made = new Int32Array(count);
  last = new WeakRef(made);
  return made;
}

export type DctMethod = '' | 'INTEGER_FAST' | 'INTEGER_ACCURATE';

/** A picture whose header has been read: how large it is, and the rest now or on another thread. */
class Opened {
  private readonly picture: object;

  constructor(
    private readonly op: string,
    private readonly kind: Kind,
    contents: Uint8Array,
    channels: number,
    ...settings: [number?, boolean?, boolean?, number?, boolean?]
  ) {
    checkBytes(op, contents);
    const { pictureOpen } = pictures();
    this.picture = reading(op, this.name, () => pictureOpen(kind, contents, channels, ...settings));
  }

  now(): Tensor3D {
    const shape = pictures().pictureShape(this.picture) as Pixels['shape'];
    const pixels = { values: roomFor(shape[0] * shape[1] * shape[2]), shape };
    reading(this.op, this.name, () => pictures().pictureDecode(this.picture, pixels.values, false));
    return toTensor(pixels);
  }

  async later(): Promise<Tensor3D> {
    const pixels = this.room();
    try {
      await pictures().pictureDecode(this.picture, pixels.values, true);
    } catch (error) {
      throw unreadable(this.op, this.name, error);
    }
    return toTensor(pixels);
  }

  private get name(): string {
    return this.kind === Kind.Jpeg ? 'JPEG' : 'PNG';
  }

  private room(): Pixels {
    const shape = pictures().pictureShape(this.picture) as Pixels['shape'];
    return { values: new Int32Array(shape[0] * shape[1] * shape[2]), shape };
  }
}

type JpegOptions = [
  channels?: 0 | 1 | 3,
  ratio?: number,
  fancyUpscaling?: boolean,
  tryRecoverTruncated?: boolean,
  acceptableFraction?: number,
  dctMethod?: DctMethod,
];

function openJpeg(contents: Uint8Array, ...options: JpegOptions): Opened {
  const [channels = 0, ratio = 1, fancyUpscaling = true, tryRecoverTruncated = false] = options;
  const [, , , , acceptableFraction = 1, dctMethod = ''] = options;
  checkAmong('decodeJpeg: channels', channels, [0, 1, 3]);
  checkAmong('decodeJpeg: ratio', ratio, [1, 2, 4, 8]);
  checkAmong('decodeJpeg: dctMethod', dctMethod, ['', 'INTEGER_FAST', 'INTEGER_ACCURATE']);
  const isFast = dctMethod !== 'INTEGER_ACCURATE'; // as TensorFlow has it
  return new Opened(
    'decodeJpeg',
    Kind.Jpeg,
    contents,
    channels,
    ratio,
    Boolean(fancyUpscaling),
    Boolean(tryRecoverTruncated),
    Number(acceptableFraction),
    isFast,
  );
}

export function decodeJpeg(contents: Uint8Array, ...options: JpegOptions): Tensor3D {
  return openJpeg(contents, ...options).now();
}

/** As decodeJpeg, while the program goes on. */
export async function decodeJpegAsync(
  contents: Uint8Array,
  ...options: JpegOptions
): Promise<Tensor3D> {
  return openJpeg(contents, ...options).later();
}

function openPng(contents: Uint8Array, channels = 0, dtype = 'int32'): Opened {
  checkAmong('decodePng: channels', channels, [0, 1, 2, 3, 4]);
  checkDtype('decodePng', dtype);
  return new Opened('decodePng', Kind.Png, contents, channels);
}

export function decodePng(contents: Uint8Array, channels = 0, dtype = 'int32'): Tensor3D {
  return openPng(contents, channels, dtype).now();
}

/** As decodePng, while the program goes on. */
export async function decodePngAsync(
  contents: Uint8Array,
  channels = 0,
  dtype = 'int32',
): Promise<Tensor3D> {
  return openPng(contents, channels, dtype).later();
}

// ---- BMP and GIF

/** The same picture with 3 or 4 channels. */
function withChannels({ values, shape }: Pixels, wanted: number): Pixels {
  const [height, width, channels] = shape;
  if (wanted === channels) return { values, shape };
  const converted = new Int32Array(width * height * wanted).fill(255);
  for (let i = 0; i < width * height; i++) {
    for (let part = 0; part < 3; part++) {
      const from = i * channels + (channels === 1 ? 0 : part);
      converted[i * wanted + part] = values[from] as number;
    }
  }
  return { values: converted, shape: [height, width, wanted] };
}

export function decodeBmp(contents: Uint8Array, channels = 0): Tensor3D {
  checkAmong('decodeBmp: channels', channels, [0, 3, 4]);
  checkBytes('decodeBmp', contents);
  const picture = reading('decodeBmp', 'BMP', () => readBmp(contents));
  return toTensor(withChannels(picture, channels || picture.shape[2]));
}

/** Every frame of it, the pictures as they would be seen one after the other. */
export function decodeGif(contents: Uint8Array): Tensor4D {
  checkBytes('decodeGif', contents);
  const reader = reading('decodeGif', 'GIF', () => new (gif().GifReader)(contents));
  const { width, height } = reader;
  const count = reader.numFrames();
  const canvas = new Uint8Array(width * height * 4);
  const values = new Int32Array(count * width * height * 3);
  let at = 0;
  for (let frame = 0; frame < count; frame++) {
    reading('decodeGif', 'GIF', () => reader.decodeAndBlitFrameRGBA(frame, canvas));
    for (let i = 0; i < canvas.length; i++) if (i % 4 < 3) values[at++] = canvas[i] as number;
  }
  return tensor4d(values, [count, height, width, 3], 'int32');
}

function firstOf(frames: Tensor4D): Tensor3D {
  const [, height, width] = frames.shape;
  return reshape(slice(frames, [0, 0, 0, 0], [1, height, width, 3]), [height, width, 3]);
}

// ---- whatever it is

const FIRST_BYTES: Array<[kind: 'jpeg' | 'png' | 'bmp' | 'gif', ...bytes: number[]]> = [
  ['jpeg', 0xff, 0xd8, 0xff],
  ['png', 0x89, 0x50, 0x4e, 0x47],
  ['bmp', 0x42, 0x4d],
  ['gif', 0x47, 0x49, 0x46],
];

function kindOf(contents: Uint8Array): string | undefined {
  checkBytes('decodeImage', contents);
  const found = FIRST_BYTES.find(([, ...first]) => first.every((byte, i) => contents[i] === byte));
  return found?.[0];
}

/** Finds out by its first bytes what kind of picture it is. */
export function decodeImage(
  contents: Uint8Array,
  channels: 0 | 1 | 3 | 4 = 0,
  dtype = 'int32',
  expandAnimations = true,
): Tensor3D | Tensor4D {
  checkDtype('decodeImage', dtype);
  switch (kindOf(contents)) {
    case 'jpeg':
      return decodeJpeg(contents, channels as 0 | 1 | 3);
    case 'png':
      return decodePng(contents, channels);
    case 'bmp':
      return decodeBmp(contents, channels);
    case 'gif':
      return expandAnimations ? decodeGif(contents) : tidy(() => firstOf(decodeGif(contents)));
    default:
      throw badArgument('decodeImage', 'bytes of another kind', 'a BMP, GIF, JPEG or PNG');
  }
}

/** As decodeImage; a JPEG or PNG is read while the program goes on. */
export async function decodeImageAsync(
  contents: Uint8Array,
  channels: 0 | 1 | 3 | 4 = 0,
  dtype = 'int32',
  expandAnimations = true,
): Promise<Tensor3D | Tensor4D> {
  checkDtype('decodeImage', dtype);
  const kind = kindOf(contents);
  if (kind === 'jpeg') return decodeJpegAsync(contents, channels as 0 | 1 | 3);
  if (kind === 'png') return decodePngAsync(contents, channels);
  return decodeImage(contents, channels, dtype, expandAnimations);
}

// ---- writing

async function encode(
  op: string,
  kind: Kind,
  image: Tensor3D,
  allowed: number[],
  settings: number[],
  text = '',
): Promise<Uint8Array> {
  if (image.rank !== 3) throw badArgument(op, `rank ${image.rank}`, '3');
  const [height, width, channels] = image.shape;
  checkAmong(`${op}: channels`, channels, allowed);
  const samples = new Uint8Array(await image.data());
  const xmp = Buffer.from(text);
  return pictures().pictureEncode(kind, samples, height, width, channels, settings, xmp);
}

const MOST_DENSITY = 65535;
/** A segment of a JPEG has two bytes for its length. */
const MOST_METADATA = 65504;

export async function encodeJpeg(
  image: Tensor3D,
  format: '' | 'grayscale' | 'rgb' = '',
  quality = 95,
  progressive = false,
  optimizeSize = false,
  chromaDownsampling = true,
  densityUnit: 'in' | 'cm' = 'in',
  xDensity = 300,
  yDensity = 300,
  xmpMetadata = '',
): Promise<Uint8Array> {
  checkAmong('encodeJpeg: format', format, ['', 'grayscale', 'rgb']);
  checkAmong('encodeJpeg: densityUnit', densityUnit, ['in', 'cm']);
  if (!(quality >= 0 && quality <= 100))
    throw badArgument('encodeJpeg: quality', quality, '0 to 100');
  for (const density of [xDensity, yDensity]) {
    if (!(density >= 1 && density <= MOST_DENSITY))
      throw badArgument('encodeJpeg: density', density, `1 to ${MOST_DENSITY}`);
  }
  if (Buffer.byteLength(xmpMetadata) > MOST_METADATA)
    throw badArgument('encodeJpeg: xmpMetadata', 'more', `at most ${MOST_METADATA} bytes`);
  const allowed = format === 'grayscale' ? [1] : format === 'rgb' ? [3] : [1, 3];
  const flags = [progressive, optimizeSize, chromaDownsampling, densityUnit === 'cm'].map(Number);
  const settings = [Number(format === 'grayscale'), quality, ...flags, xDensity, yDensity];
  return encode('encodeJpeg', Kind.Jpeg, image, allowed, settings, xmpMetadata);
}

export async function encodePng(image: Tensor3D, compression = 1): Promise<Uint8Array> {
  if (!(compression >= -1 && compression <= 9))
    throw badArgument('encodePng: compression', compression, '-1 to 9');
  return encode('encodePng', Kind.Png, image, [1, 2, 3, 4], [compression]);
}
