// Ebb's own: all variables of a model in one call.
import { type Kernel, manyOp, type OpName } from '../recipe';

/** The operands are a plain list; there are fewer results. */
function update(op: OpName): Kernel {
  return manyOp(op, undefined, (_, inputs) => Object.keys(inputs).length, ['*']);
}

export const optimizers: Record<string, Kernel> = {
  AdamUpdate: update('AdamUpdate'),
  SgdUpdate: update('SgdUpdate'),
  MomentumUpdate: update('MomentumUpdate'),
  AdagradUpdate: update('AdagradUpdate'),
  AdadeltaUpdate: update('AdadeltaUpdate'),
  AdamaxUpdate: update('AdamaxUpdate'),
  RmsPropUpdate: update('RmsPropUpdate'),
};
