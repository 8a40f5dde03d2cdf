import type { DataRecord } from '../engine/tfjs';

/** The core's numbers for the dtypes of TensorFlow.js (ebb_dtype); 0: one that it does not know. */
const CODES: Record<string, number> = { float32: 1, int32: 2, bool: 3, complex64: 4, string: 11 };
const NAMES = new Map(Object.entries(CODES).map(([name, code]) => [code, name]));

export function dtypeCode(dtype: string): number {
  return dtype === 'float32' ? 1 : (CODES[dtype] ?? 0);
}

export function dtypeOf(code: number, record: DataRecord): string {
  return NAMES.get(code) ?? record.dtype;
}
