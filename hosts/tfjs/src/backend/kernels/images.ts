import type { DataType, TensorInfo } from '@tensorflow/tfjs-core';
import { type Kernel, op, type OpName, runOp } from '../recipe';

/** A size of nothing gives nothing, as on the cpu backend; the core, as TensorFlow, would refuse it. */
function resizing(name: OpName, dtypeOf: (images: TensorInfo) => DataType): Kernel {
  const kernel = op(name);
  return (params) => {
    const images = params.inputs.images as TensorInfo;
    const [height, width] = params.attrs.size as [number, number];
    if ((height !== 0 && width !== 0) || height < 0 || width < 0) return kernel(params);
    const [batch, , , channels] = images.shape;
    const shape = [batch, height, width, channels];
    return runOp(params.backend, 'Fill', [], { shape, value: 0, dtype: dtypeOf(images) });
  };
}

export const images: Record<string, Kernel> = {
  CropAndResize: op('CropAndResize'),
  FlipLeftRight: op('FlipLeftRight'),
  ResizeBilinear: resizing('ResizeBilinear', () => 'float32'),
  ResizeBilinearGrad: op('ResizeBilinearGrad'),
  ResizeNearestNeighbor: resizing('ResizeNearestNeighbor', ({ dtype }) => dtype),
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
