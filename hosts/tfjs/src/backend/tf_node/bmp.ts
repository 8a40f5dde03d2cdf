// BMP: a few dozen lines, and no library that reads palettes right. Uncompressed pictures of 8, 24 and 32 bits, as
// TensorFlow reads, and of 1 and 4.
import type { Pixels } from './pixels';

const FILE_HEADER = 14;
const AT = { data: 10, width: 18, height: 22, bits: 28, compression: 30, colors: 46 };
/** BI_RGB, and BI_BITFIELDS with the masks that 32 bits have anyway. */
const PLAIN = [0, 3];

const isGray = (palette: Buffer): boolean => {
  for (let i = 0; i + 3 < palette.length; i += 4) {
    if (palette[i] !== palette[i + 1] || palette[i] !== palette[i + 2]) return false;
  }
  return true;
};

/** Channels as the file has them: 1 for a palette of grays, 3, or 4. */
export function readBmp(contents: Uint8Array): Pixels {
  const file = Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength);
  if (file.length < 54 || file.toString('latin1', 0, 2) !== 'BM') throw new Error('no BMP header');
  const width = file.readInt32LE(AT.width);
  const signed = file.readInt32LE(AT.height); // below zero: rows from the top
  const height = Math.abs(signed);
  const bits = file.readUInt16LE(AT.bits);
  if (!PLAIN.includes(file.readUInt32LE(AT.compression))) throw new Error('it is compressed');
  if (![1, 4, 8, 24, 32].includes(bits)) throw new Error(`${bits} bits a pixel`);
  const data = file.readUInt32LE(AT.data);
  const row = Math.ceil((width * bits) / 32) * 4; // rows are filled up to four bytes
  if (width <= 0 || data + row * height > file.length) throw new Error('it is truncated');
  const rowAt = (y: number): number => data + row * (signed > 0 ? height - 1 - y : y);
  const picture = { width, height, bits, rowAt };
  return bits <= 8 ? indexed(file, picture) : direct(file, picture);
}

interface Layout {
  width: number;
  height: number;
  bits: number;
  rowAt(y: number): number;
}

function indexed(file: Buffer, { width, height, bits, rowAt }: Layout): Pixels {
  const count = file.readUInt32LE(AT.colors) || 1 << bits;
  const start = FILE_HEADER + file.readUInt32LE(FILE_HEADER);
  const palette = file.subarray(start, start + Math.min(count, 1 << bits) * 4);
  const channels = isGray(palette) ? 1 : 3;
  const values = new Int32Array(width * height * channels);
  const perByte = 8 / bits;
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const byte = file[rowAt(y) + Math.floor(x / perByte)] as number;
      const index = (byte >> (8 - bits * ((x % perByte) + 1))) & ((1 << bits) - 1);
      if (index * 4 + 3 >= palette.length) throw new Error(`color ${index} is not in its palette`);
      for (let part = 0; part < channels; part++)
        values[at++] = palette[index * 4 + 2 - part] as number;
    }
  }
  return { values, shape: [height, width, channels] };
}

function direct(file: Buffer, { width, height, bits, rowAt }: Layout): Pixels {
  const channels = bits / 8;
  const values = new Int32Array(width * height * channels);
  let at = 0;
  for (let y = 0; y < height; y++) {
    let from = rowAt(y);
    for (let x = 0; x < width; x++, from += channels) {
      values[at++] = file[from + 2] as number;
      values[at++] = file[from + 1] as number;
      values[at++] = file[from] as number;
      if (channels === 4) values[at++] = file[from + 3] as number;
    }
  }
  return { values, shape: [height, width, channels] };
}
