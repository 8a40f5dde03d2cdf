import { type Kernel, manyOp, op } from '../recipe';

export const suppression: Record<string, Kernel> = {
  NonMaxSuppressionV3: op('NonMaxSuppressionV3'),
  NonMaxSuppressionV4: manyOp('NonMaxSuppressionV4'),
  NonMaxSuppressionV5: manyOp('NonMaxSuppressionV5'),
};
