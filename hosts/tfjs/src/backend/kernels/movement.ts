// Moving values about: shapes and indices are worked out here, with TensorFlow.js's own rules.
import {
  backend_util,
  slice_util,
  type Tensor,
  type TensorInfo,
  util,
} from '@tensorflow/tfjs-core';
import { type Attributes, type Kernel, manyOp, op, runOp } from '../recipe';
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

const plainPad = op('PadV2', flat('paddings'));

/** A negative padding cuts off, as on the cpu backend along the first axis; here along every one. */
const padV2: Kernel = (params) => {
  const { inputs, attrs, backend } = params;
  const paddings = attrs.paddings as [number, number][];
  if (paddings.every(([before, after]) => before >= 0 && after >= 0)) return plainPad(params);
  const cuts = paddings.map(([before, after]) => [Math.max(0, -before), Math.max(0, -after)]);
  const x = inputs.x as TensorInfo;
  const size = x.shape.map((extent, i) => extent - cuts[i][0] - cuts[i][1]);
  if (size.some((extent) => extent < 0)) return plainPad(params); // which says what is wrong
  const rest = runOp(backend, 'Slice', [x], { begin: cuts.map(([before]) => before), size });
  const added = paddings.map(([before, after]) => [Math.max(0, before), Math.max(0, after)]);
  try {
    return plainPad({ ...params, inputs: { x: rest }, attrs: { ...attrs, paddings: added } });
  } finally {
    backend.release(rest);
  }
};

const concat = op('Concat', ({ axis }, inputs) => {
  const first = Object.values(inputs)[0] as TensorInfo;
  return { axis: util.parseAxisParam(axis as number, first.shape)[0] };
});

export const movement: Record<string, Kernel> = {
  BatchToSpaceND: op('BatchToSpaceND', flat('crops')),
  BroadcastArgs: op('BroadcastArgs'),
  BroadcastTo: op('BroadcastTo'),
  Concat: concat,
  DepthToSpace: op('DepthToSpace', ({ blockSize, dataFormat }) => ({
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
  MatrixBandPart: op('MatrixBandPart'),
  MirrorPad: op('MirrorPad', flat('paddings')),
  Pack: op('Pack'),
  PadV2: padV2,
  Reverse: op('Reverse', ({ dims }, { x }) => ({
    dims: util.parseAxisParam(dims as number[], shapeOf(x)),
  })),
  SpaceToBatchND: op('SpaceToBatchND', flat('paddings')),
  SplitV: manyOp(
    'SplitV',
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
  Tile: op('Tile'),
  Unpack: manyOp(
    'Unpack',
    ({ axis }, { value }) => ({ axis: util.parseAxisParam(axis as number, shapeOf(value))[0] }),
    ({ axis }, { value }) => shapeOf(value)[axis as number] as number,
  ),
};
