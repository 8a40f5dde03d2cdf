// Ebb's own: all variables of a model in one call.
import { type Kernel, manyOp } from '../recipe';

export const optimizers: Record<string, Kernel> = {
  AdamUpdate: manyOp(
    'AdamUpdate',
    undefined,
    (_, inputs) => Object.keys(inputs).length,
    ['*'], // a plain list
  ),
};
