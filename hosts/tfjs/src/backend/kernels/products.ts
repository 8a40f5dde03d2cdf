// Matrix products.
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { type Kernel, op } from '../recipe';
import { INPUTS } from '../table';
import { inShape } from './views';

const plain = op('_FusedMatMul');

/**
 * TensorFlow.js makes stacks of one of its matrices before it multiplies them. The core takes them as they
 * were, and gives the product without that axis as well.
 */
function product(name: 'BatchMatMul' | '_FusedMatMul'): Kernel {
  // Matrices with an axis of one in front, or without.
  const operands = INPUTS[name].map((each) => (each === 'a' || each === 'b' ? `${each}[]` : each));
  const run = op(name, undefined, operands);
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

export const products: Record<string, Kernel> = {
  BatchMatMul: product('BatchMatMul'),
  _FusedMatMul: product('_FusedMatMul'),
};
