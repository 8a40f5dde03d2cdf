// Ragged tensors.
import { type Kernel, manyOp, op } from '../recipe';

export const ragged: Record<string, Kernel> = {
  RaggedGather: manyOp(
    'RaggedGather',
    undefined,
    ({ outputRaggedRank }) => (outputRaggedRank as number) + 1,
  ),
  RaggedRange: manyOp('RaggedRange'),
  RaggedTensorToTensor: op('RaggedTensorToTensor'),
};
