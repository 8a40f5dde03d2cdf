import { type TensorInfo, util } from '@tensorflow/tfjs-core';
import { type Kernel, op, type OpName, runOp } from '../recipe';
import { flattened } from './movement';

const shapeOf = (x: TensorInfo | undefined): number[] => (x as TensorInfo).shape;

function reduction(name: OpName, axis = 'axis'): Kernel {
  return op(name, (attrs, { x }) => ({
    axes: util.parseAxisParam(attrs[axis] as number[], shapeOf(x)),
    keepDims: attrs.keepDims,
  }));
}

function alongOne(name: OpName): Kernel {
  return op(name, (attrs, { x }) => ({
    ...attrs,
    axis: util.parseAxisParam(attrs.axis as number, shapeOf(x))[0],
  }));
}

export const reductions: Record<string, Kernel> = {
  All: reduction('All'),
  Any: reduction('Any'),
  ArgMax: alongOne('ArgMax'),
  ArgMin: alongOne('ArgMin'),
  Bincount: ({ inputs, attrs, backend }) =>
    runOp(backend, 'Bincount', [flattened(inputs.x), flattened(inputs.weights)], attrs),
  Cumprod: alongOne('Cumprod'),
  Cumsum: alongOne('Cumsum'),
  DenseBincount: op('DenseBincount'),
  Max: reduction('Max', 'reductionIndices'),
  Mean: reduction('Mean'),
  Min: reduction('Min'),
  Prod: reduction('Prod'),
  Sum: reduction('Sum'),
  UnsortedSegmentSum: op('UnsortedSegmentSum'),
};
