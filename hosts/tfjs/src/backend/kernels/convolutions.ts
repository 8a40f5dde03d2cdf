import { backend_util, type TensorInfo } from '@tensorflow/tfjs-core';
import {
  type Attributes,
  type Inputs,
  type Kernel,
  op,
  type OpName,
  type Prepare,
  runOp,
} from '../recipe';
import { flat2D, flat3D, type Quad, type Quint, shapeOf } from './windows';

type ShapeOf = (attrs: Attributes, inputs: Inputs) => number[];
const input =
  (name: string): ShapeOf =>
  (_, inputs) =>
    shapeOf(inputs, name);
const attribute =
  (name: string): ShapeOf =>
  (attrs) =>
    attrs[name] as number[];

function convolution(name: OpName, image: ShapeOf, filter: ShapeOf, depthwise = false): Kernel {
  return op(name, prepareConvolution(image, filter, depthwise));
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

function convolution3D(name: OpName, image: ShapeOf, filter: ShapeOf): Kernel {
  return op(name, (attrs, inputs) =>
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

const X = input('x');
const FILTER = input('filter');
const [INPUT_SHAPE, FILTER_SHAPE] = [attribute('inputShape'), attribute('filterShape')];

export const convolutions: Record<string, Kernel> = {
  Conv2D: convolution('Conv2D', X, FILTER),
  FusedConv2D: convolution('FusedConv2D', X, FILTER),
  Conv2DBackpropFilter: convolution('Conv2DBackpropFilter', X, FILTER_SHAPE),
  Conv2DBackpropInput: cropped(
    convolution('Conv2DBackpropInput', INPUT_SHAPE, FILTER),
    prepareConvolution(INPUT_SHAPE, FILTER, false),
  ),
  DepthwiseConv2dNative: convolution('DepthwiseConv2dNative', X, FILTER, true),
  FusedDepthwiseConv2D: convolution('FusedDepthwiseConv2D', X, FILTER, true),
  DepthwiseConv2dNativeBackpropFilter: convolution(
    'DepthwiseConv2dNativeBackpropFilter',
    X,
    FILTER_SHAPE,
    true,
  ),
  DepthwiseConv2dNativeBackpropInput: convolution(
    'DepthwiseConv2dNativeBackpropInput',
    INPUT_SHAPE,
    FILTER,
    true,
  ),
  Conv3D: convolution3D('Conv3D', X, FILTER),
  Conv3DBackpropFilterV2: convolution3D('Conv3DBackpropFilterV2', X, FILTER_SHAPE),
  Conv3DBackpropInputV2: convolution3D('Conv3DBackpropInputV2', INPUT_SHAPE, FILTER),
};
