import { type TensorInfo, util } from '@tensorflow/tfjs-core';
import { type Kernel, manyOp, op, runOp } from '../recipe';

/** Sequence and values as float32 where their dtypes differ, as numbers of JavaScript would be compared. */
function ofOneDtype(kernel: Kernel): Kernel {
  return (params) => {
    const { inputs, backend } = params;
    const { sortedSequence, values } = inputs as Record<string, TensorInfo>;
    if (sortedSequence?.dtype === values?.dtype) return kernel(params);
    const asFloats = (x: TensorInfo): TensorInfo =>
      runOp(backend, 'Cast', [x], { dtype: 'float32' });
    const [first, second] = [sortedSequence, values].map((x) => asFloats(x as TensorInfo)) as [
      TensorInfo,
      TensorInfo,
    ];
    try {
      return kernel({ ...params, inputs: { ...inputs, sortedSequence: first, values: second } });
    } finally {
      backend.release(first, second);
    }
  };
}

export const sorting: Record<string, Kernel> = {
  LowerBound: ofOneDtype(op('LowerBound')),
  SearchSorted: ofOneDtype(
    op('SearchSorted', ({ side }) => ({
      right: side === 'right',
    })),
  ),
  TopK: manyOp('TopK'),
  Unique: manyOp('Unique', ({ axis }, { x }) => ({
    axis: util.parseAxisParam(axis as number, (x as TensorInfo).shape)[0],
  })),
  UpperBound: ofOneDtype(op('UpperBound')),
};
