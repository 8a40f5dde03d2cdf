// Convolutions, dilations and pools. What 'same', 'valid', a number or explicit paddings mean is worked out
// by TensorFlow.js's own functions; the core gets numbers.
import { backend_util, type TensorInfo, util } from '@tensorflow/tfjs-core';
import {
  type Attributes,
  type Inputs,
  type Kernel,
  manyOp,
  op,
  type OpName,
  type Prepare,
  runOp,
} from '../kernel';
import { identity } from './views';

type Quad = [number, number, number, number];
type Quint = [number, number, number, number, number];
type Info2D = backend_util.Conv2DInfo;
type Info3D = backend_util.Conv3DInfo;

const shapeOf = (inputs: Inputs, name: string): number[] => (inputs[name] as TensorInfo).shape;

function flat2D(info: Info2D): Attributes {
  const { padInfo } = info;
  return {
    filterSize: [info.effectiveFilterHeight, info.effectiveFilterWidth],
    strides: [info.strideHeight, info.strideWidth],
    pads: [padInfo.top, padInfo.bottom, padInfo.left, padInfo.right],
    dilations: [info.dilationHeight, info.dilationWidth],
    outputSize: [info.outHeight, info.outWidth],
    channelsFirst: info.dataFormat === 'channelsFirst',
    filterShape: info.filterShape,
    inputShape: info.inShape,
  };
}

function flat3D(info: Info3D): Attributes {
  const { padInfo } = info;
  return {
    filterSize: [info.effectiveFilterDepth, info.effectiveFilterHeight, info.effectiveFilterWidth],
    strides: [info.strideDepth, info.strideHeight, info.strideWidth],
    pads: [padInfo.front, padInfo.back, padInfo.top, padInfo.bottom, padInfo.left, padInfo.right],
    dilations: [info.dilationDepth, info.dilationHeight, info.dilationWidth],
    outputSize: [info.outDepth, info.outHeight, info.outWidth],
    filterShape: info.filterShape,
    inputShape: info.inShape,
  };
}

type ShapeOf = (attrs: Attributes, inputs: Inputs) => number[];
const input =
  (name: string): ShapeOf =>
  (_, inputs) =>
    shapeOf(inputs, name);
const attribute =
  (name: string): ShapeOf =>
  (attrs) =>
    attrs[name] as number[];

function convolution(
  name: OpName,
  operands: string[],
  image: ShapeOf,
  filter: ShapeOf,
  depthwise = false,
): Kernel {
  return op(name, operands, prepareConvolution(image, filter, depthwise));
}

function prepareConvolution(image: ShapeOf, filter: ShapeOf, depthwise: boolean): Prepare {
  return (attrs, inputs) => {
    const info = backend_util.computeConv2DInfo(
      image(attrs, inputs) as Quad,
      filter(attrs, inputs) as Quad,
      attrs.strides as number,
      (attrs.dilations ?? 1) as number,
      attrs.pad as 'same',
      attrs.dimRoundingMode as 'floor',
      depthwise,
      backend_util.convertConv2DDataFormat((attrs.dataFormat ?? 'NHWC') as 'NHWC'),
    );
    return {
      ...flat2D(info),
      activation: attrs.activation ?? 'linear',
      leakyreluAlpha: attrs.leakyreluAlpha ?? 0,
    };
  };
}

/** Of a gradient that is larger than the output, TensorFlow.js takes the corner. */
function cropped(kernel: Kernel, prepare: Prepare): Kernel {
  return (params) => {
    const { inputs, attrs, backend } = params;
    const dy = inputs.dy as TensorInfo;
    const [batch, height, width, channels] = dy.shape as Quad;
    const [outHeight, outWidth] = prepare(attrs, inputs).outputSize as [number, number];
    const fits = attrs.dataFormat === 'NCHW' || (height <= outHeight && width <= outWidth);
    if (fits) return kernel(params);
    const corner = runOp(backend, 'Slice', [dy], {
      begin: [0, 0, 0, 0],
      size: [batch, Math.min(height, outHeight), Math.min(width, outWidth), channels],
    });
    try {
      return kernel({ ...params, inputs: { ...inputs, dy: corner } });
    } finally {
      backend.release(corner);
    }
  };
}

function convolution3D(name: OpName, operands: string[], image: ShapeOf, filter: ShapeOf): Kernel {
  return op(name, operands, (attrs, inputs) =>
    flat3D(
      backend_util.computeConv3DInfo(
        image(attrs, inputs) as Quint,
        filter(attrs, inputs) as Quint,
        attrs.strides as number,
        (attrs.dilations ?? 1) as number,
        attrs.pad as 'same',
      ),
    ),
  );
}

function dilation(name: OpName, operands: string[]): Kernel {
  return op(name, operands, (attrs, inputs) =>
    flat2D(
      backend_util.computeDilation2DInfo(
        shapeOf(inputs, 'x') as Quad,
        shapeOf(inputs, 'filter') as [number, number, number],
        attrs.strides as number,
        attrs.pad as 'same',
        'NHWC',
        attrs.dilations as number,
      ),
    ),
  );
}

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

const FUSED = ['x', 'filter', 'bias?', 'preluActivationWeights?'];
const X = input('x');
const FILTER = input('filter');
const [INPUT_SHAPE, FILTER_SHAPE] = [attribute('inputShape'), attribute('filterShape')];

export const windows: Record<string, Kernel> = {
  Conv2D: convolution('Conv2D', ['x', 'filter'], X, FILTER),
  FusedConv2D: convolution('FusedConv2D', FUSED, X, FILTER),
  Conv2DBackpropFilter: convolution('Conv2DBackpropFilter', ['x', 'dy'], X, FILTER_SHAPE),
  Conv2DBackpropInput: cropped(
    convolution('Conv2DBackpropInput', ['dy', 'filter'], INPUT_SHAPE, FILTER),
    prepareConvolution(INPUT_SHAPE, FILTER, false),
  ),
  DepthwiseConv2dNative: convolution('DepthwiseConv2dNative', ['x', 'filter'], X, FILTER, true),
  FusedDepthwiseConv2D: convolution('FusedDepthwiseConv2D', FUSED, X, FILTER, true),
  DepthwiseConv2dNativeBackpropFilter: convolution(
    'DepthwiseConv2dNativeBackpropFilter',
    ['x', 'dy'],
    X,
    FILTER_SHAPE,
    true,
  ),
  DepthwiseConv2dNativeBackpropInput: convolution(
    'DepthwiseConv2dNativeBackpropInput',
    ['dy', 'filter'],
    INPUT_SHAPE,
    FILTER,
    true,
  ),
  Conv3D: convolution3D('Conv3D', ['x', 'filter'], X, FILTER),
  Conv3DBackpropFilterV2: convolution3D('Conv3DBackpropFilterV2', ['x', 'dy'], X, FILTER_SHAPE),
  Conv3DBackpropInputV2: convolution3D(
    'Conv3DBackpropInputV2',
    ['dy', 'filter'],
    INPUT_SHAPE,
    FILTER,
  ),
  Dilation2D: dilation('Dilation2D', ['x', 'filter']),
  Dilation2DBackpropFilter: dilation('Dilation2DBackpropFilter', ['x', 'filter', 'dy']),
  Dilation2DBackpropInput: dilation('Dilation2DBackpropInput', ['x', 'filter', 'dy']),
  AvgPool: unlessOne(op('AvgPool', ['x'], pool2D('x'))),
  AvgPoolGrad: op('AvgPoolGrad', ['dy', 'input'], pool2D('input')),
  AvgPool3D: op('AvgPool3D', ['x'], pool3D('x')),
  AvgPool3DGrad: op('AvgPool3DGrad', ['dy', 'input'], pool3D('input')),
  MaxPool: unlessOne(op('MaxPool', ['x'], pool2D('x'))),
  MaxPoolGrad: op('MaxPoolGrad', ['dy', 'input', 'output?'], pool2D('input')),
  MaxPool3D: op('MaxPool3D', ['x'], pool3D('x')),
  MaxPool3DGrad: op('MaxPool3DGrad', ['dy', 'input', 'output?'], pool3D('input')),
  MaxPoolWithArgmax: manyOp('MaxPoolWithArgmax', ['x'], pool2D('x')),
};
