import type { TensorInfo } from '@tensorflow/tfjs-core';
import { type Kernel, op } from '../recipe';

export const images: Record<string, Kernel> = {
  CropAndResize: op('CropAndResize'),
  FlipLeftRight: op('FlipLeftRight'),
  ResizeBilinear: op('ResizeBilinear'),
  ResizeBilinearGrad: op('ResizeBilinearGrad'),
  ResizeNearestNeighbor: op('ResizeNearestNeighbor'),
  ResizeNearestNeighborGrad: op('ResizeNearestNeighborGrad'),
  RotateWithOffset: op('RotateWithOffset', ({ radians, fillValue, center }) => ({
    radians,
    fillValue,
    center: typeof center === 'number' ? [center, center] : center,
  })),
  Transform: op('Transform', (attrs, { image }) => ({
    ...attrs,
    outputShape: attrs.outputShape ?? (image as TensorInfo).shape.slice(1, 3),
  })),
};
