// Products, normalisation, optimizers, images, signals.
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { type Attributes, type Kernel, manyOp, op } from '../kernel';
import { inShape } from './views';

const resize = (attrs: Attributes): Attributes => ({
  ...attrs,
  halfPixelCenters: attrs.halfPixelCenters ?? false,
});

const plain = op('_FusedMatMul', ['a', 'b', 'bias?', 'preluActivationWeights?']);

/**
 * TensorFlow.js makes stacks of one of its matrices before it multiplies them. The core takes them as they
 * were, and gives the product without that axis as well.
 */
function product(name: 'BatchMatMul' | '_FusedMatMul'): Kernel {
  const run = op(name, [
    'a[]',
    'b[]',
    ...(name === '_FusedMatMul' ? ['bias?', 'preluActivationWeights?'] : []),
  ]);
  return (params) => {
    const { a, b, bias, preluActivationWeights } = params.inputs as Record<string, TensorInfo>;
    // These are laid over the product, however many axes it has.
    const isPlain = preluActivationWeights != null || (bias != null && bias.shape.length > 2);
    if (isPlain) return plain(params);
    const made = run(params) as TensorInfo;
    const rank = Math.max((a as TensorInfo).shape.length, (b as TensorInfo).shape.length);
    return made.shape.length === rank ? made : inShape(made, [1, ...made.shape]);
  };
}

export const learning: Record<string, Kernel> = {
  BatchMatMul: product('BatchMatMul'),
  _FusedMatMul: product('_FusedMatMul'),
  FusedBatchNorm: op('FusedBatchNorm', ['x', 'mean', 'variance', 'offset?', 'scale?'], (attrs) => ({
    varianceEpsilon: attrs.varianceEpsilon ?? 0.001,
  })),
  LRN: op('LRN', ['x']),
  LRNGrad: op('LRNGrad', ['x', 'y', 'dy']),
  LogSoftmax: op('LogSoftmax', ['logits']),
  Softmax: op('Softmax', ['logits'], ({ dim }, { logits }) => ({
    dim:
      dim === -1 || dim === undefined ? (logits as TensorInfo).shape.length - 1 : (dim as number),
  })),

  AdamUpdate: manyOp('AdamUpdate', ['*'], undefined, (_, inputs) => Object.keys(inputs).length),

  FFT: op('FFT', ['input']),
  IFFT: op('IFFT', ['input']),

  CropAndResize: op('CropAndResize', ['image', 'boxes', 'boxInd']),
  FlipLeftRight: op('FlipLeftRight', ['image']),
  NonMaxSuppressionV3: op('NonMaxSuppressionV3', ['boxes', 'scores']),
  NonMaxSuppressionV4: manyOp('NonMaxSuppressionV4', ['boxes', 'scores']),
  NonMaxSuppressionV5: manyOp('NonMaxSuppressionV5', ['boxes', 'scores']),
  ResizeBilinear: op('ResizeBilinear', ['images'], resize),
  ResizeBilinearGrad: op('ResizeBilinearGrad', ['images', 'dy']),
  ResizeNearestNeighbor: op('ResizeNearestNeighbor', ['images'], resize),
  ResizeNearestNeighborGrad: op('ResizeNearestNeighborGrad', ['images', 'dy']),
  RotateWithOffset: op('RotateWithOffset', ['image'], ({ radians, fillValue, center }) => ({
    radians,
    fillValue,
    center: typeof center === 'number' ? [center, center] : center,
  })),
  Transform: op('Transform', ['image', 'transforms'], (attrs, { image }) => ({
    ...attrs,
    outputShape: attrs.outputShape ?? (image as TensorInfo).shape.slice(1, 3),
  })),
};
