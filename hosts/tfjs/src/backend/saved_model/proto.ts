// Protocol buffers, as far as SavedModels need them: a schema is a table of fields, a message an object.
// (tensorflow/core/protobuf and tensorflow/core/framework name the fields.)

type Scalar =
  'int' | 'bool' | 'float' | 'double' | 'text' | 'bytes' | 'ints' | 'floats' | 'doubles';
/** `[number, kind]`; a message is one by its schema. `repeated`: a list of them; `map`: by a text. */
type Kind =
  | Scalar
  | (() => Schema)
  | { repeated: 'text' | 'bytes' | (() => Schema) }
  | { map: 'text' | (() => Schema) };
export type Schema = Record<number, [name: string, kind: Kind]>;

const enum Wire {
  Varint,
  Fixed64,
  Bytes,
  Group,
  GroupEnd,
  Fixed32,
}

class Reader {
  private at = 0;

  constructor(readonly bytes: Buffer) {}

  get more(): boolean {
    return this.at < this.bytes.length;
  }

  /** An integer of up to 64 bits, signed. Beyond 2^53 it is not exact. */
  varint(): number {
    const start = this.at;
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 9; i++) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    if (this.byte() > 1) throw new Error('a number of more than 64 bits');
    let exact = 0n; // ten bytes: below zero, which a sum of doubles would miss
    for (let i = 9; i >= 0; i--)
      exact = exact * 128n + BigInt((this.bytes[start + i] as number) & 127);
    return Number(BigInt.asIntN(64, exact));
  }

  fixed32(): number {
    return this.take(4).readFloatLE();
  }

  fixed64(): number {
    return this.take(8).readDoubleLE();
  }

  chunk(): Buffer {
    return this.take(this.varint());
  }

  skip(wire: Wire): void {
    if (wire === Wire.Varint) this.varint();
    else if (wire === Wire.Fixed64) this.take(8);
    else if (wire === Wire.Bytes) this.chunk();
    else if (wire === Wire.Fixed32) this.take(4);
    else throw new Error(`wire type ${wire}`);
  }

  private byte(): number {
    return this.take(1)[0] as number;
  }

  private take(count: number): Buffer {
    const end = this.at + count;
    if (!(count >= 0) || end > this.bytes.length) throw new Error('it is truncated');
    const taken = this.bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }
}

type Message = Record<string, unknown>;

function scalar(reader: Reader, kind: Scalar): unknown {
  switch (kind) {
    case 'int':
      return reader.varint();
    case 'bool':
      return reader.varint() !== 0;
    case 'float':
      return reader.fixed32();
    case 'double':
      return reader.fixed64();
    case 'text':
      return reader.chunk().toString('utf8');
    default:
      return reader.chunk();
  }
}

const ELEMENTS = { ints: 'int', floats: 'float', doubles: 'double' } as const;

/** Numbers may come one by one or many in a row, whatever the schema says. */
function numbers(reader: Reader, kind: keyof typeof ELEMENTS, wire: Wire, into: number[]): void {
  const element = ELEMENTS[kind];
  if (wire !== Wire.Bytes) {
    into.push(scalar(reader, element) as number);
    return;
  }
  const packed = new Reader(reader.chunk());
  while (packed.more) into.push(scalar(packed, element) as number);
}

function value(reader: Reader, kind: Scalar | (() => Schema)): unknown {
  return typeof kind === 'function' ? decode(reader.chunk(), kind()) : scalar(reader, kind);
}

function field(reader: Reader, wire: Wire, name: string, kind: Kind, message: Message): void {
  if (kind === 'ints' || kind === 'floats' || kind === 'doubles') {
    numbers(reader, kind, wire, (message[name] ??= []) as number[]);
  } else if (typeof kind === 'object' && 'repeated' in kind) {
    ((message[name] ??= []) as unknown[]).push(value(reader, kind.repeated));
  } else if (typeof kind === 'object') {
    const entry = decode<{ key?: string; value?: unknown }>(reader.chunk(), {
      1: ['key', 'text'],
      2: ['value', kind.map],
    });
    const empty = typeof kind.map === 'function' ? {} : '';
    ((message[name] ??= {}) as Message)[entry.key ?? ''] = entry.value ?? empty;
  } else {
    message[name] = value(reader, kind);
  }
}

export function decode<T>(bytes: Buffer, schema: Schema): T {
  const reader = new Reader(bytes);
  const message: Message = {};
  while (reader.more) {
    const tag = reader.varint();
    const known = schema[Math.floor(tag / 8)];
    const wire = (tag % 8) as Wire;
    if (known === undefined) reader.skip(wire);
    else field(reader, wire, ...known, message);
  }
  return message as T;
}

// ---- the messages

export interface Shape {
  dim?: Array<{ size?: number }>;
  unknownRank?: boolean;
}
export interface TensorProto {
  dtype?: number;
  tensorShape?: Shape;
  tensorContent?: Buffer;
  floatVal?: number[];
  doubleVal?: number[];
  intVal?: number[];
  stringVal?: Buffer[];
  scomplexVal?: number[];
  int64Val?: number[];
  boolVal?: number[];
  halfVal?: number[];
}
export interface AttrValue {
  list?: {
    s?: Buffer[];
    i?: number[];
    f?: number[];
    b?: number[];
    type?: number[];
    shape?: Shape[];
  };
  s?: Buffer;
  i?: number;
  f?: number;
  b?: boolean;
  type?: number;
  shape?: Shape;
  tensor?: TensorProto;
  placeholder?: string;
  func?: { name: string };
}
export interface NodeDef {
  name: string;
  op: string;
  input?: string[];
  attr?: Record<string, AttrValue>;
}
export interface ArgDef {
  name: string;
  type?: number;
  numberAttr?: string;
  typeListAttr?: string;
}
export interface OpDef {
  name: string;
  inputArg?: ArgDef[];
  outputArg?: ArgDef[];
  attr?: Array<{ name: string; defaultValue?: AttrValue }>;
}
export interface FunctionDef {
  signature: OpDef;
  nodeDef?: NodeDef[];
  ret?: Record<string, string>;
}
export interface GraphDef {
  node?: NodeDef[];
  library?: { function?: FunctionDef[] };
  versions?: { producer?: number; minConsumer?: number };
}
export interface TensorInfo {
  name?: string;
  dtype?: number;
  tensorShape?: Shape;
}
export interface SignatureDef {
  inputs?: Record<string, TensorInfo>;
  outputs?: Record<string, TensorInfo>;
}
export interface MetaGraphDef {
  metaInfoDef?: { tags?: string[]; strippedOpList?: { op?: OpDef[] } };
  graphDef?: GraphDef;
  saverDef?: { restoreOpName?: string };
  signatureDef?: Record<string, SignatureDef>;
  assetFileDef?: Array<{ tensorInfo?: TensorInfo; filename?: string }>;
}
export interface BundleEntry {
  dtype?: number;
  shape?: Shape;
  shardId?: number;
  offset?: number;
  size?: number;
  slices?: Buffer[];
}

const SHAPE: Schema = {
  2: ['dim', { repeated: () => ({ 1: ['size', 'int'] }) }],
  3: ['unknownRank', 'bool'],
};
const TENSOR: Schema = {
  1: ['dtype', 'int'],
  2: ['tensorShape', () => SHAPE],
  4: ['tensorContent', 'bytes'],
  5: ['floatVal', 'floats'],
  6: ['doubleVal', 'doubles'],
  7: ['intVal', 'ints'],
  8: ['stringVal', { repeated: 'bytes' }],
  9: ['scomplexVal', 'floats'],
  10: ['int64Val', 'ints'],
  11: ['boolVal', 'ints'],
  13: ['halfVal', 'ints'],
};
const LIST: Schema = {
  2: ['s', { repeated: 'bytes' }],
  3: ['i', 'ints'],
  4: ['f', 'floats'],
  5: ['b', 'ints'],
  6: ['type', 'ints'],
  7: ['shape', { repeated: () => SHAPE }],
};
const ATTR: Schema = {
  1: ['list', () => LIST],
  2: ['s', 'bytes'],
  3: ['i', 'int'],
  4: ['f', 'float'],
  5: ['b', 'bool'],
  6: ['type', 'int'],
  7: ['shape', () => SHAPE],
  8: ['tensor', () => TENSOR],
  9: ['placeholder', 'text'],
  10: ['func', () => ({ 1: ['name', 'text'] })],
};
const NODE: Schema = {
  1: ['name', 'text'],
  2: ['op', 'text'],
  3: ['input', { repeated: 'text' }],
  5: ['attr', { map: () => ATTR }],
};
const ARG: Schema = {
  1: ['name', 'text'],
  3: ['type', 'int'],
  5: ['numberAttr', 'text'],
  6: ['typeListAttr', 'text'],
};
const OP: Schema = {
  1: ['name', 'text'],
  2: ['inputArg', { repeated: () => ARG }],
  3: ['outputArg', { repeated: () => ARG }],
  4: ['attr', { repeated: () => ({ 1: ['name', 'text'], 3: ['defaultValue', () => ATTR] }) }],
};
const FUNCTION: Schema = {
  1: ['signature', () => OP],
  3: ['nodeDef', { repeated: () => NODE }],
  4: ['ret', { map: 'text' }],
};
const GRAPH: Schema = {
  1: ['node', { repeated: () => NODE }],
  2: ['library', () => ({ 1: ['function', { repeated: () => FUNCTION }] })],
  4: ['versions', () => ({ 1: ['producer', 'int'], 2: ['minConsumer', 'int'] })],
};
const TENSOR_INFO: Schema = {
  1: ['name', 'text'],
  2: ['dtype', 'int'],
  3: ['tensorShape', () => SHAPE],
};
const SIGNATURE: Schema = {
  1: ['inputs', { map: () => TENSOR_INFO }],
  2: ['outputs', { map: () => TENSOR_INFO }],
};
const META_GRAPH: Schema = {
  1: [
    'metaInfoDef',
    () => ({
      2: ['strippedOpList', () => ({ 1: ['op', { repeated: () => OP }] })],
      4: ['tags', { repeated: 'text' }],
    }),
  ],
  2: ['graphDef', () => GRAPH],
  3: ['saverDef', () => ({ 3: ['restoreOpName', 'text'] })],
  5: ['signatureDef', { map: () => SIGNATURE }],
  6: [
    'assetFileDef',
    { repeated: () => ({ 1: ['tensorInfo', () => TENSOR_INFO], 2: ['filename', 'text'] }) },
  ],
};
export const SAVED_MODEL: Schema = { 2: ['metaGraphs', { repeated: () => META_GRAPH }] };
export const BUNDLE_ENTRY: Schema = {
  1: ['dtype', 'int'],
  2: ['shape', () => SHAPE],
  3: ['shardId', 'int'],
  4: ['offset', 'int'],
  5: ['size', 'int'],
  7: ['slices', { repeated: 'bytes' }],
};
export const BUNDLE_HEADER: Schema = { 1: ['numShards', 'int'], 2: ['endianness', 'int'] };

/** The numbers of TensorFlow's DataType. */
export const DT = {
  DT_FLOAT: 1,
  DT_DOUBLE: 2,
  DT_INT32: 3,
  DT_UINT8: 4,
  DT_INT16: 5,
  DT_INT8: 6,
  DT_STRING: 7,
  DT_COMPLEX64: 8,
  DT_INT64: 9,
  DT_BOOL: 10,
  DT_BFLOAT16: 14,
  DT_UINT16: 17,
  DT_HALF: 19,
  DT_RESOURCE: 20,
  DT_VARIANT: 21,
} as const;

export function nameOfDtype(dtype = 0): string {
  return Object.entries(DT).find(([, number]) => number === dtype)?.[0] ?? `DT_${dtype}`;
}
