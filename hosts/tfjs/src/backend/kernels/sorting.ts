import { type TensorInfo, util } from '@tensorflow/tfjs-core';
import { type Kernel, manyOp, op } from '../recipe';

export const sorting: Record<string, Kernel> = {
  LowerBound: op('LowerBound'),
  SearchSorted: op('SearchSorted', ({ side }) => ({
    right: side === 'right',
  })),
  TopK: manyOp('TopK'),
  Unique: manyOp('Unique', ({ axis }, { x }) => ({
    axis: util.parseAxisParam(axis as number, (x as TensorInfo).shape)[0],
  })),
  UpperBound: op('UpperBound'),
};
