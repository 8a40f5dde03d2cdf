// Gathers and scatters.
import { backend_util, type Tensor, type TensorInfo, util } from '@tensorflow/tfjs-core';
import { type Kernel, op, runOp } from '../recipe';
import { inShape } from './views';

const shapeOf = (x: TensorInfo | undefined): number[] => (x as TensorInfo).shape;

/** One coordinate each, where indices are a plain list. */
const coordinates = (indices: TensorInfo | undefined): TensorInfo =>
  shapeOf(indices).length > 1
    ? (indices as TensorInfo)
    : inShape(indices as TensorInfo, [...shapeOf(indices), 1]);

export const indexing: Record<string, Kernel> = {
  GatherNd: op('GatherNd'),
  GatherV2: op('GatherV2', (attrs, { x, indices }) => {
    const axis = util.parseAxisParam(attrs.axis as number, shapeOf(x))[0] as number;
    const batchDims = (attrs.batchDims ?? 0) as number;
    const { collectGatherOpShapeInfo } = backend_util.segment_util;
    collectGatherOpShapeInfo(x as Tensor, indices as Tensor, axis, batchDims); // checks them
    return { axis, batchDims: batchDims < 0 ? batchDims + shapeOf(indices).length : batchDims };
  }),
  ScatterNd: ({ inputs, attrs, backend }) =>
    runOp(backend, 'ScatterNd', [coordinates(inputs.indices), inputs.updates as TensorInfo], attrs),
  SparseToDense: op('SparseToDense'),
  TensorScatterUpdate: ({ inputs: { tensor, indices, updates }, backend }) =>
    runOp(backend, 'TensorScatterUpdate', [
      tensor as TensorInfo,
      coordinates(indices),
      updates as TensorInfo,
    ]),
};
