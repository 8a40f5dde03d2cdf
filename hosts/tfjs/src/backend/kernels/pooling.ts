import { backend_util, util } from '@tensorflow/tfjs-core';
import { type Attributes, type Inputs, type Kernel, manyOp, op } from '../recipe';
import { identity } from './views';
import { flat2D, flat3D, type Info2D, type Quad, type Quint, shapeOf } from './windows';

const info2D = (attrs: Attributes, inputs: Inputs, image: string): Info2D =>
  backend_util.computePool2DInfo(
    shapeOf(inputs, image) as Quad,
    attrs.filterSize as number,
    attrs.strides as number,
    1,
    attrs.pad as 'same',
    attrs.dimRoundingMode as 'floor',
  );

const pool2D =
  (image: string) =>
  (attrs: Attributes, inputs: Inputs): Attributes => ({
    ...flat2D(info2D(attrs, inputs, image)),
    includeBatchInIndex: attrs.includeBatchInIndex,
  });

const pool3D =
  (image: string) =>
  (attrs: Attributes, inputs: Inputs): Attributes =>
    flat3D(
      backend_util.computePool3DInfo(
        shapeOf(inputs, image) as Quint,
        attrs.filterSize as number,
        attrs.strides as number,
        1,
        attrs.pad as 'same',
        attrs.dimRoundingMode as 'floor',
        (attrs.dataFormat ?? 'NDHWC') as 'NDHWC',
      ),
    );

/** A window of one cell that keeps the shape does nothing, wherever its strides and padding would put it. */
function unlessOne(pool: Kernel): Kernel {
  return (params) => {
    const { outShape, inShape, filterHeight, filterWidth } = info2D(
      params.attrs,
      params.inputs,
      'x',
    );
    const isOne = filterHeight === 1 && filterWidth === 1 && util.arraysEqual(inShape, outShape);
    return isOne ? identity(params) : pool(params);
  };
}

export const pooling: Record<string, Kernel> = {
  AvgPool: unlessOne(op('AvgPool', pool2D('x'))),
  AvgPoolGrad: op('AvgPoolGrad', pool2D('input')),
  AvgPool3D: op('AvgPool3D', pool3D('x')),
  AvgPool3DGrad: op('AvgPool3DGrad', pool3D('input')),
  MaxPool: unlessOne(op('MaxPool', pool2D('x'))),
  MaxPoolGrad: op('MaxPoolGrad', pool2D('input')),
  MaxPool3D: op('MaxPool3D', pool3D('x')),
  MaxPool3DGrad: op('MaxPool3DGrad', pool3D('input')),
  MaxPoolWithArgmax: manyOp('MaxPoolWithArgmax', pool2D('x')),
};
