// Where TensorFlow.js's gradient is another than the core's: what it gives stays what a program gets.
import type { Attributes } from '../recipe';

type Difference = string | ((attributes: Attributes) => string);

const DILATED = 'TensorFlow.js has no gradient of dilated convolutions';

function ofDilated({ dilations = 1 }: Attributes): string {
  return [dilations].flat().every((each) => each === 1) ? '' : DILATED;
}

function ofPadded({ pad }: Attributes): string {
  return pad === 'valid' || pad === 0
    ? ''
    : 'its gradient of a padded average pool counts the padding';
}

const DIFFERENCES: Record<string, Difference> = {
  Abs: 'its slope of Abs at 0 is -1',
  AvgPool: ofPadded,
  AvgPool3D: ofPadded,
  Conv2D: ofDilated,
  DepthwiseConv2dNative: ofDilated,
  FusedConv2D: ofDilated,
  FusedDepthwiseConv2D: ofDilated,
  Max: 'all that are equal to Max get the whole of it',
  Min: 'all that are equal to Min get the whole of it',
  MirrorPad: 'its gradient of MirrorPad leaves out what was mirrored',
};

/** Empty: it is the same. */
export function whyDifferent(kernelName: string, attributes: Attributes): string {
  const why = DIFFERENCES[kernelName] ?? '';
  return typeof why === 'string' ? why : why(attributes);
}
