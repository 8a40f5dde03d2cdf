// Event files of TensorBoard: records with checksums, each a protocol buffer of a few fields.

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

export function record(data: Buffer): Buffer {
  const framed = Buffer.alloc(data.length + 16);
  framed.writeBigUInt64LE(BigInt(data.length), 0);
  framed.writeUInt32LE(checksum(framed.subarray(0, 8)), 8);
  data.copy(framed, 12);
  framed.writeUInt32LE(checksum(data), data.length + 12);
  return framed;
}

// ---- the events: protocol buffers of a few fields

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

export const tag = (field: number, wire: number): Buffer => varint(field * 8 + wire);

export function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(field, 1), bytes]);
}

export function float(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([tag(field, 5), bytes]);
}

export const nested = (field: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([tag(field, 2), varint(body.length), body]);
};

export const text = (field: number, value: string): Buffer => nested(field, Buffer.from(value));

export const number = (field: number, value: number): Buffer =>
  Buffer.concat([tag(field, 0), varint(value)]);

// ---- tensors in them

const DT_DOUBLE = 2;
const DT_STRING = 7;
const TENSOR = { dtype: 1, shape: 2, content: 4, strings: 8 };
const SHAPE = { dim: 2, size: 1 };

const shapeOf = (dims: number[]): Buffer =>
  nested(TENSOR.shape, ...dims.map((dim) => nested(SHAPE.dim, number(SHAPE.size, dim))));

export function doubles(field: number, dims: number[], values: number[]): Buffer {
  const content = Buffer.from(Float64Array.from(values).buffer);
  return nested(
    field,
    number(TENSOR.dtype, DT_DOUBLE),
    shapeOf(dims),
    nested(TENSOR.content, content),
  );
}

export function strings(field: number, dims: number[], values: Uint8Array[]): Buffer {
  const parts = values.map((value) => nested(TENSOR.strings, Buffer.from(value)));
  return nested(field, number(TENSOR.dtype, DT_STRING), shapeOf(dims), ...parts);
}
