// Moving values about: shapes and indices are worked out here, with TensorFlow.js's own rules.
import {
  backend_util,
  slice_util,
  type Tensor,
  type TensorInfo,
  util,
} from '@tensorflow/tfjs-core';
import { type Attributes, type Kernel, manyOp, op, runOp } from '../kernel';
import { inShape, reshaped } from './views';

/** Pairs for each axis, one after the other. */
const flat =
  (name: string) =>
  (attrs: Attributes): Attributes => ({
    ...attrs,
    [name]: (attrs[name] as number[][]).flat(),
  });

const shapeOf = (x: TensorInfo | undefined): number[] => (x as TensorInfo).shape;

const slice = op('Slice', ['x'], (attrs, { x }) => {
  const { begin, size } = attrs as { begin: number | number[]; size: number | number[] };
  const [from, extent] = slice_util.parseSliceParams(x as unknown as Tensor, begin, size);
  slice_util.assertParamsValid(x as unknown as Tensor, from as number[], extent as number[]);
  return { begin: from, size: extent };
});

const stridedSlice: Kernel = (params) => {
  const x = params.inputs.x as TensorInfo;
  const { begin, end, strides, beginMask, endMask, ellipsisMask, newAxisMask, shrinkAxisMask } =
    params.attrs as Record<string, number> & Record<'begin' | 'end' | 'strides', number[]>;
  const info = slice_util.sliceInfo(
    x.shape,
    begin,
    end,
    strides,
    beginMask as number,
    endMask as number,
    ellipsisMask as number,
    newAxisMask as number,
    shrinkAxisMask as number,
  );
  if (info.isIdentity) return reshaped(params, x, info.finalShape);
  const made = runOp(params.backend, 'StridedSlice', [x], {
    begin: info.begin,
    strides: info.strides,
    size: slice_util.computeOutShape(info.begin, info.end, info.strides),
  });
  return inShape(made, info.finalShape);
};

const concat = op('Concat', ['*'], ({ axis }, inputs) => {
  const first = Object.values(inputs)[0] as TensorInfo;
  return { axis: util.parseAxisParam(axis as number, first.shape)[0] };
});

export const movement: Record<string, Kernel> = {
  BatchToSpaceND: op('BatchToSpaceND', ['x'], flat('crops')),
  BroadcastArgs: op('BroadcastArgs', ['s0', 's1']),
  BroadcastTo: op('BroadcastTo', ['x']),
  Concat: concat,
  DepthToSpace: op('DepthToSpace', ['x'], ({ blockSize, dataFormat }) => ({
    blockSize,
    channelsFirst: dataFormat === 'NCHW',
  })),
  Diag: op('Diag', ['x']),
  GatherNd: op('GatherNd', ['params', 'indices']),
  GatherV2: op('GatherV2', ['x', 'indices'], ({ axis, batchDims }, { x }) => ({
    axis: util.parseAxisParam(axis as number, shapeOf(x))[0],
    batchDims: batchDims ?? 0,
  })),
  MatrixBandPart: op('MatrixBandPart', ['input', 'numLower', 'numUpper']),
  MirrorPad: op('MirrorPad', ['x'], flat('paddings')),
  Pack: op('Pack', ['*']),
  PadV2: op('PadV2', ['x'], flat('paddings')),
  Reverse: op('Reverse', ['x'], ({ dims }, { x }) => ({
    dims: util.parseAxisParam(dims as number[], shapeOf(x)),
  })),
  ScatterNd: op('ScatterNd', ['indices', 'updates']),
  Slice: slice,
  SpaceToBatchND: op('SpaceToBatchND', ['x'], flat('paddings')),
  SparseToDense: op('SparseToDense', ['sparseIndices', 'sparseValues', 'defaultValue']),
  SplitV: manyOp(
    'SplitV',
    ['x'],
    ({ numOrSizeSplits, axis }, { x }) => {
      const along = util.parseAxisParam(axis as number, shapeOf(x))[0] as number;
      const sizes = backend_util.prepareSplitSize(
        x as unknown as Tensor,
        numOrSizeSplits as number[],
        along,
      );
      return { sizeSplits: sizes, axis: along };
    },
    ({ sizeSplits }) => (sizeSplits as number[]).length,
  ),
  StridedSlice: stridedSlice,
  TensorScatterUpdate: op('TensorScatterUpdate', ['tensor', 'indices', 'updates']),
  Tile: op('Tile', ['x']),
  Transpose: op('Transpose', ['x']),
  Unpack: manyOp(
    'Unpack',
    ['value'],
    ({ axis }, { value }) => ({ axis: util.parseAxisParam(axis as number, shapeOf(value))[0] }),
    ({ axis }, { value }) => shapeOf(value)[axis as number] as number,
  ),
};
