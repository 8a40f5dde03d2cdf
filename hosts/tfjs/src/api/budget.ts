import { budgetOf } from '../books/devices';
import { trimFreeLists } from '../engine/free_lists';
import { currentEngine } from '../engine/tfjs';
import { badArgument, checkFlag, checkOptions, EbbError } from '../errors';
import { host } from '../host';

export interface BudgetOptions {
  /** Beyond the budget throw instead of warning once and going on. */
  strict?: boolean;
}

export function parseBytes(size: number | string, what = 'budget'): number {
  if (typeof size === 'number') {
    if (Number.isFinite(size) && size > 0) return Math.floor(size);
  } else if (typeof size === 'string') {
    try {
      const bytes = host().parseBytes(size);
      if (bytes > 0) return bytes;
    } catch (error) {
      if ((error as EbbError).code !== 'EBB_INVALID_ARGUMENT') throw error;
    }
  }
  throw badArgument(what, size, "a positive number of bytes, or text such as '2GB' or '512 MiB'");
}

/** Limits what tensors may hold, in the whole process; without a size, says what the limit is. */
export function budget(size?: number | string, options: BudgetOptions = {}): number {
  checkOptions('budget', options, 'strict');
  checkFlag('budget: strict', options.strict);
  if (size === undefined) return budgetOf(currentEngine());
  const { strict = false } = options;
  const bytes = parseBytes(size);
  host().setBudget(bytes, strict);
  return bytes;
}

/**
 * Gives memory that the backends `ebb`, `ebb-cuda`, `webgpu` and `webgl` keep for reuse back to the system, about `size`
 * of it (webgl: all that it keeps); says how many bytes went back. What is dead goes first: call `collect()` before, if nobody else does.
 */
export function trim(size: number | string = Number.MAX_SAFE_INTEGER): number {
  const bytes = parseBytes(size, 'trim');
  const own = host().trim(bytes);
  const engine = currentEngine();
  return own + (engine === undefined ? 0 : trimFreeLists(engine, bytes - own));
}
