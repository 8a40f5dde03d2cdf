// What a function looked at while it was recorded: a replay is right only where it would see the same.
import type { EbbBackend } from '../backend';
import { type EbbData, sizeOf, unwritten } from '../data';

type Values = Uint8Array;

export function valuesOf(backend: EbbBackend, { handle, shape, dtype }: EbbData): Values {
  const values = unwritten(dtype, sizeOf(shape));
  backend.runtime.read(handle, values);
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** A replay saw other values than the recorded call: what it did is not what the function would do. */
export class OtherValues {
  /** What it saw, up to the first that is different. */
  constructor(readonly seen: readonly Values[]) {}
}

/** Values that were looked at, in their order. */
export class Guards {
  constructor(private readonly recorded: readonly Values[]) {}

  get count(): number {
    return this.recorded.length;
  }

  /** Throws OtherValues where one is different. */
  check(backend: EbbBackend, looked: readonly EbbData[]): void {
    const seen: Values[] = [];
    for (const [i, data] of looked.entries()) {
      const now = valuesOf(backend, data);
      seen.push(now);
      if (Buffer.compare(now, this.recorded[i] as Values) !== 0) throw new OtherValues(seen);
    }
  }

  /** Whether a call that saw these may have been the recorded one. */
  agree({ seen }: OtherValues): boolean {
    return seen.every(
      (each, i) => i < this.count && Buffer.compare(each, this.recorded[i] as Values) === 0,
    );
  }
}
