import type { TensorInfo } from '@tensorflow/tfjs-core';
import { type Kernel, op } from '../recipe';

export const normalisation: Record<string, Kernel> = {
  FusedBatchNorm: op('FusedBatchNorm'),
  LRN: op('LRN'),
  LRNGrad: op('LRNGrad'),
  LogSoftmax: op('LogSoftmax'),
  Softmax: op('Softmax', ({ dim }, { logits }) => ({
    dim:
      dim === -1 || dim === undefined ? (logits as TensorInfo).shape.length - 1 : (dim as number),
  })),
};
