// Values of few bytes. V8 keeps arrays as small as theirs within its heap, and would have to move each one out before
// the addon can look at it; so they go through memory that both sides share.

/** What V8 keeps within its heap at most. */
const MOST_BYTES = 64;

type Values = ArrayBufferView;
/** Whether a copy by numbers has the same bits: that of a NaN may not. */
type Copied = boolean;

function copyFloats(from: Float32Array, to: Float32Array, count: number): Copied {
  for (let i = 0; i < count; i++) {
    const value = from[i] as number;
    if (value !== value) return false;
    to[i] = value;
  }
  return true;
}

function copyIntegers<T extends Int32Array | Uint8Array>(from: T, to: T, count: number): Copied {
  for (let i = 0; i < count; i++) to[i] = from[i] as number;
  return true;
}

export class SmallValues {
  readonly memory = new Float64Array(MOST_BYTES / 8);
  private readonly floats = new Float32Array(this.memory.buffer);
  private readonly integers = new Int32Array(this.memory.buffer);
  private readonly bytes = new Uint8Array(this.memory.buffer);

  fits(values: Values): boolean {
    return values.byteLength <= MOST_BYTES;
  }

  /** Into the shared memory. */
  put(values: Values): Copied {
    if (values instanceof Float32Array) return copyFloats(values, this.floats, values.length);
    if (values instanceof Int32Array) return copyIntegers(values, this.integers, values.length);
    return values instanceof Uint8Array && copyIntegers(values, this.bytes, values.length);
  }

  /** From there. */
  take(into: Values): Copied {
    if (into instanceof Float32Array) return copyFloats(this.floats, into, into.length);
    if (into instanceof Int32Array) return copyIntegers(this.integers, into, into.length);
    return into instanceof Uint8Array && copyIntegers(this.bytes, into, into.length);
  }
}
