// A step of an optimizer of `tf.train` as one operation for all variables, where TensorFlow.js has a chain of up to
// fourteen for each. The results are the chain's, bit by bit: the operation rounds where the chain does.
import {
  AdadeltaOptimizer,
  AdagradOptimizer,
  AdamaxOptimizer,
  AdamOptimizer,
  engine,
  MomentumOptimizer,
  type NamedTensorMap,
  Optimizer,
  RMSPropOptimizer,
  SGDOptimizer,
  type Tensor,
  type Variable,
} from '@tensorflow/tfjs-core';
import { EbbBackend } from './backend';
import { sameShape } from './data';
import { recordingUnderWay } from './record/recording';
import type { OpName } from './table';

type Gradients = Parameters<Optimizer['applyGradients']>[0];
/** What the optimizer keeps, by variable. */
type Kept = ReadonlyArray<{ variable: Variable } | null | undefined>;
/** The optimizer's own fields, by their names in TensorFlow.js. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- private fields
type Fields = Record<string, any>;

/** How the operation takes an optimizer's step. */
interface Update {
  optimizer: { prototype: Optimizer };
  op: OpName;
  /** A field that its `applyGradients` uses: another method than TensorFlow.js's stays. */
  uses: string;
  /** Scalars that come before the variables. */
  scalars?: string[];
  /** They are variables, and the operation gives those of the next step. */
  steps?: boolean;
  /** Lists of what is kept for each variable. */
  kept(fields: Fields): string[];
  /** The operation's attributes that are numbers. */
  numbers: (fields: Fields) => Record<string, number>;
  flags?: (fields: Fields) => Record<string, boolean>;
}

const UPDATES: Update[] = [
  {
    optimizer: AdamOptimizer,
    op: 'AdamUpdate',
    uses: 'accumulatedFirstMoment',
    scalars: ['accBeta1', 'accBeta2'],
    steps: true,
    kept: () => ['accumulatedFirstMoment', 'accumulatedSecondMoment'],
    numbers: ({ beta1, beta2, learningRate, epsilon }) => ({ beta1, beta2, learningRate, epsilon }),
  },
  {
    optimizer: SGDOptimizer,
    op: 'SgdUpdate',
    uses: 'this.c',
    scalars: ['c'],
    kept: () => [],
    numbers: () => ({}),
  },
  {
    optimizer: MomentumOptimizer,
    op: 'MomentumUpdate',
    uses: 'accumulations',
    scalars: ['c', 'm'],
    kept: () => ['accumulations'],
    numbers: () => ({}),
    flags: ({ useNesterov }) => ({ useNesterov: Boolean(useNesterov) }),
  },
  {
    optimizer: AdagradOptimizer,
    op: 'AdagradUpdate',
    uses: 'accumulatedGrads',
    kept: () => ['accumulatedGrads'],
    numbers: ({ learningRate }) => ({ learningRate, epsilon: engine().backend.epsilon() }),
  },
  {
    optimizer: AdadeltaOptimizer,
    op: 'AdadeltaUpdate',
    uses: 'accumulatedUpdates',
    kept: () => ['accumulatedGrads', 'accumulatedUpdates'],
    numbers: ({ learningRate, rho, epsilon }) => ({ learningRate, rho, epsilon }),
  },
  {
    optimizer: AdamaxOptimizer,
    op: 'AdamaxUpdate',
    uses: 'accumulatedWeightedInfNorm',
    scalars: ['accBeta1', 'iteration'],
    steps: true,
    kept: () => ['accumulatedFirstMoment', 'accumulatedWeightedInfNorm'],
    numbers: ({ beta1, beta2, learningRate, epsilon, decay }) => ({
      ...{ beta1, beta2, learningRate, epsilon, decay },
    }),
  },
  {
    optimizer: RMSPropOptimizer,
    op: 'RmsPropUpdate',
    uses: 'accumulatedMeanSquares',
    kept: ({ centered }) => [
      'accumulatedMeanSquares',
      'accumulatedMoments',
      ...(centered ? ['accumulatedMeanGrads'] : []),
    ],
    numbers: ({ learningRate, decay, momentum, epsilon }) => ({
      ...{ learningRate, decay, momentum, epsilon },
    }),
    flags: ({ centered }) => ({ centered: Boolean(centered) }),
  },
];

/** A step that an optimizer's state fits: what the results are assigned to, all operands, the attributes. */
interface Step {
  op: OpName;
  assigned: Variable[];
  operands: Tensor[];
  attributes: Record<string, number | boolean>;
}

function isLike(tensor: Tensor | null | undefined, shape: readonly number[]): tensor is Tensor {
  return (
    tensor != null &&
    tensor.dtype === 'float32' &&
    !tensor.isDisposed &&
    sameShape(tensor.shape, shape)
  );
}

/** As TensorFlow.js finds them: with names, or under their names. */
function listOf(gradients: Gradients): Array<[string, Tensor]> {
  return Array.isArray(gradients)
    ? gradients.map(({ name, tensor }) => [name, tensor])
    : Object.entries(gradients);
}

/**
 * Undefined where TensorFlow.js is to do the step: the first one, which makes what is kept; a variable without a
 * gradient or given twice; other dtypes and shapes, which it may refuse; a gradient that is being taken of it.
 */
function stepOf(update: Update, fields: Fields, gradients: Gradients): Step | undefined {
  const numbers = update.numbers(fields);
  const scalars = (update.scalars ?? []).map((name) => fields[name] as Tensor);
  if (engine().isTapeOn() || !scalars.every((each) => isLike(each, []))) return undefined;
  if (Object.values(numbers).some((each) => typeof each !== 'number')) return undefined;
  const variablesByName: Record<string, Variable | undefined> = engine().registeredVariables;
  const kept = update.kept(fields).map((name) => fields[name] as Kept);
  const assigned = update.steps ? [...(scalars as Variable[])] : [];
  const operands = [...scalars];
  const seen = new Set<string>();
  for (const [i, [name, gradient]] of listOf(gradients).entries()) {
    const value = variablesByName[name];
    if (value === undefined || !isLike(value, value.shape) || seen.has(name)) return undefined;
    const states = [value, ...kept.map((each) => each[i]?.variable)];
    const inputs = [...states, gradient];
    if (!inputs.every((each) => isLike(each, value.shape))) return undefined;
    seen.add(name);
    assigned.push(...(states as Variable[]));
    operands.push(...(inputs as Tensor[]));
  }
  if (seen.size === 0) return undefined;
  return {
    op: update.op,
    assigned,
    operands,
    attributes: { ...numbers, ...update.flags?.(fields) },
  };
}

function run({ op, assigned, operands, attributes }: Step): void {
  engine().tidy(() => {
    const results = engine().runKernel(
      op,
      operands as unknown as NamedTensorMap,
      attributes,
    ) as Tensor[];
    assigned.forEach((variable, i) => variable.assign(results[i] as Tensor));
  });
}

function install(update: Update): void {
  const { prototype } = update.optimizer;
  const { applyGradients } = prototype;
  if (!applyGradients.toString().includes(update.uses)) return;
  prototype.applyGradients = function (this: Optimizer, gradients: Gradients): void {
    const fields = this as unknown as Fields & { incrementIterations(): void };
    const isOurs = engine().backend instanceof EbbBackend;
    const step = isOurs ? stepOf(update, fields, gradients) : undefined;
    if (step === undefined) return applyGradients.call(this, gradients);
    run(step);
    fields.incrementIterations();
  };
}

let installed = false;

const NOTED = Symbol.for('ebb-tfjs.steps noted');
interface Counter {
  incrementIterations(): void;
  [NOTED]?: boolean;
}

/** A step of a recorded function counts in each call of it. Copies of this package may have one of TensorFlow.js. */
function noteSteps(): void {
  const prototype = Optimizer.prototype as unknown as Counter;
  if (prototype[NOTED] === true) return;
  prototype[NOTED] = true;
  const { incrementIterations } = prototype;
  prototype.incrementIterations = function (this: Optimizer): void {
    recordingUnderWay()?.optimizers.add(this);
    incrementIterations.call(this);
  };
}

/** Replaces TensorFlow.js's own methods, once. A subclass's, and what a program has put in their place, stay. */
export function installOptimizers(): void {
  if (installed) return;
  installed = true;
  UPDATES.forEach(install);
  noteSteps();
}
