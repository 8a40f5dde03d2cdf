// The switch of gradients from the core's tape on backends `ebb` and `ebb-cuda` (docs/grad.md).
import type { TapeInfo, TapeSwitch } from '../backend/tape';
import { EbbError } from '../errors';
import { isolatePart } from '../host';

export type { TapeInfo };

function tapeSwitch(): TapeSwitch {
  const found = isolatePart<TapeSwitch>('tape');
  if (found !== undefined) return found;
  throw new EbbError(
    'EBB_UNSUPPORTED',
    "[tape] Backend ebb is not loaded; allowed: after require('ebb-tfjs/backend').",
  );
}

export const tape = {
  /** Gradients come from the core where it has them, as they do from the start. */
  on(): void {
    tapeSwitch().on = true;
  },
  /** They are TensorFlow.js's own. */
  off(): void {
    tapeSwitch().on = false;
  },
  /** How many were taken each way, and why. */
  info(): TapeInfo {
    return tapeSwitch().info();
  },
};

/** The same as a line of a report. */
export function tapeLine(): string {
  const info = isolatePart<TapeSwitch>('tape')?.info();
  if (info === undefined) return '';
  const reasons = Object.entries(info.theirs);
  if (info.native === 0 && reasons.length === 0) return '';
  const count = reasons.reduce((sum, [, times]) => sum + times, 0);
  const why = reasons.map(([reason, times]) => `${times} x ${reason}`).join(', ');
  return `gradients: ${info.native} native, ${count} by TensorFlow.js${why && `; ${why}`}\n`;
}
