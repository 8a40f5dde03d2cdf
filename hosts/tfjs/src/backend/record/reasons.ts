// Why a call was not a replay, as reports say it. docs/record.md says of each what to do about it.
export const REASONS = [
  // recorded again
  'other shapes, dtypes or constants',
  'variables of an optimizer are others',
  'trainable of a variable changed',
  'values that it looks at were others',
  'it made variables, as first steps of optimizers do',
  'it was the first to use ebb.tidy, reclaim, trace or the like',
  'variables or reused results came from another backend, with data that they share',
  // run by TensorFlow.js this time
  'another backend was in use',
  'it was part of another recording',
  'a gradient was taken of it',
  'it was given a tensor of strings',
  // run by TensorFlow.js from then on
  'it uses random numbers other than those of dropout',
  'it disposes what it is given',
  'it disposes tensors that it did not make',
  'it keeps tensors that it does not return, as stateful layers do',
  'it makes or disposes variables',
  'it uses tensors of another backend',
  'a result is not on the backend',
  'it assigns to a variable what is not on the backend',
  'it uses variables that were not made by tf.variable',
  'it uses data that no tensor was seen of',
  'shapes inside depend on values',
] as const;

/** One of them, or which number or switch of an optimizer it was. */
export type Reason = (typeof REASONS)[number] | `${string} of an optimizer changed`;
/** Empty: there is none. */
export type MaybeReason = Reason | '';
