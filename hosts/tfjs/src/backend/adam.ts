// A step of `tf.train.adam` as one operation for all variables, where TensorFlow.js has a chain of fourteen for each.
// The results are the chain's, bit by bit: the operation rounds where the chain does.
import {
  AdamOptimizer,
  engine,
  type NamedTensorMap,
  type Tensor,
  type Variable,
} from '@tensorflow/tfjs-core';
import { EbbBackend } from './backend';
import { sameShape } from './data';

type Gradients = Parameters<AdamOptimizer['applyGradients']>[0];

/** A step that an optimizer's state fits: the variables, each with what it has accumulated, and all operands. */
interface Step {
  variables: Variable[];
  operands: Tensor[];
}

/** The optimizer's own fields. */
interface Adam {
  readonly accBeta1: Variable;
  readonly accBeta2: Variable;
  readonly accumulatedFirstMoment: ReadonlyArray<{ variable: Variable } | null | undefined>;
  readonly accumulatedSecondMoment: ReadonlyArray<{ variable: Variable } | null | undefined>;
  readonly beta1: number;
  readonly beta2: number;
  readonly learningRate: number;
  readonly epsilon: number;
  incrementIterations(): void;
}

function isLike(tensor: Tensor | null | undefined, shape: readonly number[]): tensor is Tensor {
  return (
    tensor != null &&
    tensor.dtype === 'float32' &&
    !tensor.isDisposed &&
    sameShape(tensor.shape, shape)
  );
}

/**
 * Undefined where TensorFlow.js is to do the step: the first one, which makes the moments; a variable without a
 * gradient or given twice; other dtypes and shapes, which it may refuse; a gradient that is being taken of it.
 */
function stepOf(adam: Adam, gradients: Gradients): Step | undefined {
  const { accBeta1, accBeta2, beta1, beta2, learningRate, epsilon } = adam;
  if (!isLike(accBeta1, []) || !isLike(accBeta2, []) || engine().isTapeOn()) return undefined;
  if ([beta1, beta2, learningRate, epsilon].some((each) => typeof each !== 'number')) {
    return undefined;
  }
  const variablesByName: Record<string, Variable | undefined> = engine().registeredVariables;
  const list: Array<[string, Tensor]> = Array.isArray(gradients)
    ? gradients.map(({ name, tensor }) => [name, tensor])
    : Object.entries(gradients);
  const variables: Variable[] = [];
  const operands: Tensor[] = [accBeta1, accBeta2];
  const seen = new Set<string>();
  for (const [i, [name, gradient]] of list.entries()) {
    const value = variablesByName[name];
    const first = adam.accumulatedFirstMoment[i]?.variable;
    const second = adam.accumulatedSecondMoment[i]?.variable;
    if (value === undefined || !isLike(value, value.shape) || seen.has(name)) return undefined;
    const { shape } = value;
    if (!isLike(first, shape) || !isLike(second, shape) || !isLike(gradient, shape)) {
      return undefined;
    }
    seen.add(name);
    variables.push(value, first, second);
    operands.push(value, first, second, gradient);
  }
  return variables.length === 0 ? undefined : { variables, operands };
}

function run(adam: Adam, { variables, operands }: Step): void {
  const { accBeta1, accBeta2, beta1, beta2, learningRate, epsilon } = adam;
  engine().tidy(() => {
    const [power1, power2, ...updated] = engine().runKernel(
      'AdamUpdate',
      operands as unknown as NamedTensorMap,
      { beta1, beta2, learningRate, epsilon },
    ) as Tensor[];
    variables.forEach((variable, i) => variable.assign(updated[i] as Tensor));
    accBeta1.assign(power1 as Tensor);
    accBeta2.assign(power2 as Tensor);
  });
  adam.incrementIterations();
}

let installed = false;

/** Replaces TensorFlow.js's own method, once. A subclass's, and what a program has put in its place, stay. */
export function installAdam(): void {
  if (installed) return;
  installed = true;
  const { prototype } = AdamOptimizer;
  const { applyGradients } = prototype;
  if (!applyGradients.toString().includes('accumulatedFirstMoment')) return;
  prototype.applyGradients = function (this: AdamOptimizer, gradients: Gradients): void {
    const adam = this as unknown as Adam;
    const step = engine().backend instanceof EbbBackend ? stepOf(adam, gradients) : undefined;
    if (step === undefined) applyGradients.call(this, gradients);
    else run(adam, step);
  };
}
