// Sparse tensors.
import { type Kernel, manyOp, op } from '../recipe';

export const sparse: Record<string, Kernel> = {
  SparseFillEmptyRows: manyOp('SparseFillEmptyRows'),
  SparseReshape: manyOp('SparseReshape'),
  SparseSegmentMean: op('SparseSegmentMean'),
  SparseSegmentSum: op('SparseSegmentSum'),
};
