// TensorFlow.js's fused operations are a `customGrad` around one kernel, with the gradient that the kernel has.
import type { Tensor } from '@tensorflow/tfjs-core';

/** The body that `fused.matMul`, `fused.conv2d` and `fused.depthwiseConv2d` give to customGrad, and nobody else. */
const BODY = /\.runKernel\((_FusedMatMul|FusedConv2D|FusedDepthwiseConv2D)\w*, inputs, attrs\)/;

/** The kernel's name; undefined: it is something else. */
export const fusedKernel = (body: (...args: never[]) => unknown): string | undefined =>
  BODY.exec(body.toString())?.[1];

type Save = (tensors: Tensor[]) => void;
/** What is given to customGrad. */
export type Body = (...args: Array<Tensor | Save>) => {
  value: Tensor;
  gradFunc: (dy: Tensor, saved: Tensor[]) => Tensor | Tensor[];
};

export interface CustomCall {
  forwardFunc(): Tensor;
  backwardsFunc(dy: Tensor): Record<string, () => Tensor>;
  inputs: Record<string, Tensor>;
}

/** What TensorFlow.js's customGrad makes of it for the engine, but that what it saves is held. */
export function callOf(
  body: Body,
  inputs: readonly Tensor[],
  hold: (tensors: Tensor[]) => Tensor[],
): CustomCall {
  let saved: Tensor[] = [];
  let gradFunc: ReturnType<Body>['gradFunc'];
  return {
    forwardFunc() {
      const result = body(...inputs, (tensors: Tensor[]) => (saved = hold(tensors)));
      gradFunc = result.gradFunc;
      return result.value;
    },
    backwardsFunc(dy) {
      const given = gradFunc(dy, saved);
      const all = Array.isArray(given) ? given : [given];
      return Object.fromEntries(all.map((each, i) => [i, () => each]));
    },
    inputs: Object.fromEntries(inputs.map((each, i) => [i, each])),
  };
}
