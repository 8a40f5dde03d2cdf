// Pictures to tensors and back, as tfjs-node does it. The libraries are loaded when a picture is.
import {
  reshape,
  slice,
  type Tensor3D,
  type Tensor4D,
  tensor3d,
  tensor4d,
  tidy,
  util,
} from '@tensorflow/tfjs-core';
import { badArgument, EbbError } from '../../errors';

/** Four bytes a pixel, row by row. */
interface Picture {
  width: number;
  height: number;
  data: Uint8Array;
  /** How many channels the file has. */
  channels: number;
}

interface Jpeg {
  decode(
    bytes: Uint8Array,
    options: { useTArray: true; maxMemoryUsageInMB: number; tolerantDecoding: boolean },
  ): Omit<Picture, 'channels'>;
  encode(picture: Omit<Picture, 'channels'>, quality: number): { data: Uint8Array };
}
interface Png {
  width: number;
  height: number;
  data: Buffer;
  alpha: boolean;
  color: boolean;
}
interface PngModule {
  PNG: (new (options: { width: number; height: number }) => Png) & {
    sync: {
      read(bytes: Buffer): Png;
      write(png: Png, options: object): Buffer;
    };
  };
}
interface Bmp {
  decode(bytes: Buffer, options: { toRGBA: true }): Omit<Picture, 'channels'> & { bitPP: number };
}
interface Gif {
  width: number;
  height: number;
  numFrames(): number;
  frameInfo(frame: number): {
    x: number;
    y: number;
    width: number;
    height: number;
    disposal: number;
  };
  decodeAndBlitFrameRGBA(frame: number, pixels: Uint8Array): void;
}
interface GifModule {
  GifReader: new (bytes: Uint8Array) => Gif;
}

/* eslint-disable @typescript-eslint/no-require-imports -- most programs never need them */
const jpeg = (): Jpeg => require('jpeg-js') as Jpeg;
const png = (): PngModule => require('pngjs') as PngModule;
const bmp = (): Bmp => require('bmp-ts') as Bmp;
const gif = (): GifModule => require('omggif') as GifModule;
/* eslint-enable @typescript-eslint/no-require-imports */

const MEMORY_FOR_A_JPEG_IN_MB = 4096;
const RED = 0.299;
const GREEN = 0.587;
const BLUE = 0.114;

function checkChannels(op: string, channels: number, allowed: number[]): void {
  if (!allowed.includes(channels)) {
    throw badArgument(`${op}: channels`, channels, allowed.join(', '));
  }
}

const isGray = (channels: number): boolean => channels < 3;

/** One pixel of four bytes as one of `to` numbers. */
function convert(
  from: Uint8Array,
  at: number,
  wasGray: boolean,
  to: number,
  out: Int32Array,
  into: number,
): void {
  const [r, g, b, a] = [from[at], from[at + 1], from[at + 2], from[at + 3]] as [
    number,
    number,
    number,
    number,
  ];
  if (isGray(to)) {
    out[into] = wasGray ? r : Math.round(RED * r + GREEN * g + BLUE * b);
    if (to === 2) out[into + 1] = a;
    return;
  }
  out[into] = r;
  out[into + 1] = g;
  out[into + 2] = b;
  if (to === 4) out[into + 3] = a;
}

function toTensor(picture: Picture, wanted: number): Tensor3D {
  const { width, height, data, channels } = picture;
  const to = wanted === 0 ? channels : wanted;
  const values = new Int32Array(width * height * to);
  for (let i = 0; i < width * height; i++) {
    convert(data, i * 4, isGray(channels), to, values, i * to);
  }
  return tensor3d(values, [height, width, to], 'int32');
}

/** What a library makes of the bytes, or an error that says whose bytes they were. */
function reading<T>(op: string, kind: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new EbbError(
      'EBB_INVALID_ARGUMENT',
      `[${op}] Received bytes that cannot be read (${(error as Error).message}); allowed: a ${kind}.`,
      { cause: error },
    );
  }
}

/** Components of a JPEG, from its frame header. */
function jpegComponents(bytes: Uint8Array): number {
  for (let at = 2; at + 9 < bytes.length;) {
    if (bytes[at] !== 0xff) return 3;
    const marker = bytes[at + 1] as number;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return bytes[at + 9] === 1 ? 1 : 3;
    at += 2 + ((bytes[at + 2] as number) << 8) + (bytes[at + 3] as number);
  }
  return 3;
}

export function decodeJpeg(
  contents: Uint8Array,
  channels: 0 | 1 | 3 = 0,
  ratio = 1,
  fancyUpscaling = true,
  tryRecoverTruncated = false,
): Tensor3D {
  checkChannels('decodeJpeg', channels, [0, 1, 3]);
  if (ratio !== 1) throw badArgument('decodeJpeg: ratio', ratio, '1');
  if (!fancyUpscaling) throw badArgument('decodeJpeg: fancyUpscaling', fancyUpscaling, 'true');
  const picture = reading('decodeJpeg', 'JPEG', () =>
    jpeg().decode(contents, {
      useTArray: true,
      maxMemoryUsageInMB: MEMORY_FOR_A_JPEG_IN_MB,
      tolerantDecoding: tryRecoverTruncated,
    }),
  );
  return toTensor({ ...picture, channels: jpegComponents(contents) }, channels);
}

export function decodePng(contents: Uint8Array, channels = 0, dtype = 'int32'): Tensor3D {
  checkChannels('decodePng', channels, [0, 1, 2, 3, 4]);
  checkDtype('decodePng', dtype);
  const picture = reading('decodePng', 'PNG', () => png().PNG.sync.read(Buffer.from(contents)));
  const found = (picture.color ? 3 : 1) + (picture.alpha ? 1 : 0);
  return toTensor({ ...pick(picture), channels: found }, channels);
}

export function decodeBmp(contents: Uint8Array, channels = 0): Tensor3D {
  checkChannels('decodeBmp', channels, [0, 3, 4]);
  const picture = reading('decodeBmp', 'BMP', () =>
    bmp().decode(Buffer.from(contents), { toRGBA: true }),
  );
  return toTensor({ ...pick(picture), channels: picture.bitPP === 32 ? 4 : 3 }, channels);
}

const pick = ({ width, height, data }: Omit<Picture, 'channels'>): Omit<Picture, 'channels'> => ({
  width,
  height,
  data,
});

/** Every frame of it, the pictures as they would be seen one after the other. */
export function decodeGif(contents: Uint8Array): Tensor4D {
  const reader = reading('decodeGif', 'GIF', () => new (gif().GifReader)(contents));
  const { width, height } = reader;
  const count = reader.numFrames();
  const canvas = new Uint8Array(width * height * 4);
  const values = new Int32Array(count * width * height * 3);
  for (let frame = 0; frame < count; frame++) {
    reader.decodeAndBlitFrameRGBA(frame, canvas);
    const from = frame * width * height;
    for (let i = 0; i < width * height; i++) {
      convert(canvas, i * 4, false, 3, values, (from + i) * 3);
    }
  }
  return tensor4d(values, [count, height, width, 3], 'int32');
}

function checkDtype(op: string, dtype: string): void {
  if (dtype !== 'int32') throw badArgument(`${op}: dtype`, dtype, "'int32'");
}

const startsWith = (bytes: Uint8Array, ...first: number[]): boolean =>
  first.every((byte, i) => bytes[i] === byte);

function firstOf(frames: Tensor4D): Tensor3D {
  const [, height, width] = frames.shape;
  return reshape(slice(frames, [0, 0, 0, 0], [1, height, width, 3]), [height, width, 3]);
}

/** Finds out by its first bytes what kind of picture it is. */
export function decodeImage(
  contents: Uint8Array,
  channels: 0 | 1 | 3 | 4 = 0,
  dtype = 'int32',
  expandAnimations = true,
): Tensor3D | Tensor4D {
  checkDtype('decodeImage', dtype);
  if (startsWith(contents, 0xff, 0xd8, 0xff)) return decodeJpeg(contents, channels as 0 | 1 | 3);
  if (startsWith(contents, 0x89, 0x50, 0x4e, 0x47)) return decodePng(contents, channels);
  if (startsWith(contents, 0x42, 0x4d)) return decodeBmp(contents, channels);
  if (startsWith(contents, 0x47, 0x49, 0x46)) {
    return expandAnimations ? decodeGif(contents) : tidy(() => firstOf(decodeGif(contents)));
  }
  throw badArgument('decodeImage', 'bytes of another kind', 'a BMP, GIF, JPEG or PNG');
}

async function toPicture(op: string, image: Tensor3D, allowed: number[]): Promise<Picture> {
  util.assert(image.rank === 3, () => `[${op}] Received rank ${image.rank}; allowed: 3.`);
  const [height, width, channels] = image.shape;
  checkChannels(op, channels, allowed);
  const values = await image.data();
  const data = new Uint8Array(width * height * 4);
  for (let i = 0; i < width * height; i++) {
    const at = i * channels;
    const gray = isGray(channels);
    data[i * 4] = values[at] as number;
    data[i * 4 + 1] = values[gray ? at : at + 1] as number;
    data[i * 4 + 2] = values[gray ? at : at + 2] as number;
    data[i * 4 + 3] = channels % 2 === 0 ? (values[at + channels - 1] as number) : 255;
  }
  return { width, height, data, channels };
}

const QUALITY = 95;

export async function encodeJpeg(
  image: Tensor3D,
  format: '' | 'grayscale' | 'rgb' = '',
  quality = QUALITY,
): Promise<Uint8Array> {
  const wanted = format === 'grayscale' ? [1] : format === 'rgb' ? [3] : [1, 3];
  const picture = await toPicture('encodeJpeg', image, wanted);
  return new Uint8Array(jpeg().encode(picture, quality).data);
}

/** Color types of the PNG format, by channels. */
const COLOR_TYPES = [0, 0, 4, 2, 6];

export async function encodePng(image: Tensor3D, compression = 1): Promise<Uint8Array> {
  const { width, height, data, channels } = await toPicture('encodePng', image, [1, 2, 3, 4]);
  const { PNG } = png();
  const picture = new PNG({ width, height });
  picture.data = Buffer.from(data.buffer);
  const options = {
    deflateLevel: compression,
    colorType: COLOR_TYPES[channels],
    inputHasAlpha: true,
  };
  return new Uint8Array(PNG.sync.write(picture, options));
}
