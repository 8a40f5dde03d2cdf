// Grayscale dilation.
import { backend_util } from '@tensorflow/tfjs-core';
import { type Kernel, op, type OpName } from '../recipe';
import { flat2D, type Quad, shapeOf } from './windows';

function windowed(name: OpName): Kernel {
  return op(name, (attrs, inputs) =>
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

export const dilation: Record<string, Kernel> = {
  Dilation2D: windowed('Dilation2D'),
  Dilation2DBackpropFilter: windowed('Dilation2DBackpropFilter'),
  Dilation2DBackpropInput: windowed('Dilation2DBackpropInput'),
};
