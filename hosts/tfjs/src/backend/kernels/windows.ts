// What convolutions, dilation and pooling share. What 'same', 'valid', a number or explicit paddings mean is
// worked out by TensorFlow.js's own functions; the core gets numbers.
import type { backend_util, TensorInfo } from '@tensorflow/tfjs-core';
import type { Attributes, Inputs } from '../recipe';

export type Quad = [number, number, number, number];
export type Quint = [number, number, number, number, number];
export type Info2D = backend_util.Conv2DInfo;
export type Info3D = backend_util.Conv3DInfo;

export const shapeOf = (inputs: Inputs, name: string): number[] =>
  (inputs[name] as TensorInfo).shape;

export function flat2D(info: Info2D): Attributes {
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

export function flat3D(info: Info3D): Attributes {
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
