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

export const flattened = (x: TensorInfo | undefined): TensorInfo =>
  inShape(x as TensorInfo, [util.sizeFromShape(shapeOf(x))]);

/** One coordinate each, where indices are a plain list. */
const coordinates = (indices: TensorInfo | undefined): TensorInfo =>
  shapeOf(indices).length > 1
    ? (indices as TensorInfo)
    : inShape(indices as TensorInfo, [...shapeOf(indices), 1]);

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
  Diag: (params) => {
    const { shape } = params.inputs.x as TensorInfo;
    // Twice the rank may be more than the core has.
    return inShape(runOp(params.backend, 'Diag', [flattened(params.inputs.x)]), [
      ...shape,
      ...shape,
    ]);
  },
  GatherNd: op('GatherNd', ['params', 'indices']),
  GatherV2: op('GatherV2', ['x', 'indices'], (attrs, { x, indices }) => {
    const axis = util.parseAxisParam(attrs.axis as number, shapeOf(x))[0] as number;
    const batchDims = (attrs.batchDims ?? 0) as number;
    const { collectGatherOpShapeInfo } = backend_util.segment_util;
    collectGatherOpShapeInfo(x as Tensor, indices as Tensor, axis, batchDims); // checks them
    return { axis, batchDims: batchDims < 0 ? batchDims + shapeOf(indices).length : batchDims };
  }),
  MatrixBandPart: op('MatrixBandPart', ['input', 'numLower', 'numUpper']),
  MirrorPad: op('MirrorPad', ['x'], flat('paddings')),
  Pack: op('Pack', ['*']),
  PadV2: op('PadV2', ['x'], flat('paddings')),
  Reverse: op('Reverse', ['x'], ({ dims }, { x }) => ({
    dims: util.parseAxisParam(dims as number[], shapeOf(x)),
  })),
  ScatterNd: ({ inputs, attrs, backend }) =>
    runOp(backend, 'ScatterNd', [coordinates(inputs.indices), inputs.updates as TensorInfo], attrs),
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
  TensorScatterUpdate: ({ inputs: { tensor, indices, updates }, backend }) =>
    runOp(backend, 'TensorScatterUpdate', [
      tensor as TensorInfo,
      coordinates(indices),
      updates as TensorInfo,
    ]),
  Tile: op('Tile', ['x']),
  Transpose: op('Transpose', ['x']),
  Unpack: manyOp(
    'Unpack',
    ['value'],
    ({ axis }, { value }) => ({ axis: util.parseAxisParam(axis as number, shapeOf(value))[0] }),
    ({ axis }, { value }) => shapeOf(value)[axis as number] as number,
  ),
};
