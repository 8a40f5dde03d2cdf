// Sparse and ragged tensors.
import { type Kernel, manyOp, op } from '../kernel';

const PARTITIONS = ['FIRST_DIM_SIZE', 'VALUE_ROWIDS', 'ROW_SPLITS'];

function partitionCode(type: string): number {
  const code = PARTITIONS.indexOf(type);
  if (code >= 0) return code;
  throw new Error(
    `[RaggedTensorToTensor] Received row partition type ${type}; allowed: ${PARTITIONS.join(', ')}.`,
  );
}

export const sparse: Record<string, Kernel> = {
  RaggedGather: manyOp(
    'RaggedGather',
    ['paramsNestedSplits*', 'paramsDenseValues', 'indices'],
    undefined,
    ({ outputRaggedRank }) => (outputRaggedRank as number) + 1,
  ),
  RaggedRange: manyOp('RaggedRange', ['starts', 'limits', 'deltas']),
  RaggedTensorToTensor: op(
    'RaggedTensorToTensor',
    ['shape', 'values', 'defaultValue', 'rowPartitionTensors*'],
    ({ rowPartitionTypes }) => ({
      rowPartitionTypes: (rowPartitionTypes as string[]).map(partitionCode),
    }),
  ),
  SparseFillEmptyRows: manyOp('SparseFillEmptyRows', [
    'indices',
    'values',
    'denseShape',
    'defaultValue',
  ]),
  SparseReshape: manyOp('SparseReshape', ['inputIndices', 'inputShape', 'newShape']),
  SparseSegmentMean: op('SparseSegmentMean', ['data', 'indices', 'segmentIds']),
  SparseSegmentSum: op('SparseSegmentSum', ['data', 'indices', 'segmentIds']),
};
