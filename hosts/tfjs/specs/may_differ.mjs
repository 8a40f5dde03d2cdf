// Specs that may fail when a collection comes in the middle of one, by name, with the reason: they count tensors,
// or name variables, that they no longer hold, and Ebb may have given them back by then. Which of them fail depends
// on when it comes. One more wants to be in a test. Nothing but a wrong count is accepted from these: a wrong value
// stays a fault.
const DROPPED_LOSS = 'counts the losses that minimize() returned and it dropped';
const DROPPED_TENSORS = 'counts tensors that it made and dropped';
const DROPPED_INPUT = 'counts the input and the result, which it dropped';
const DROPPED_VARIABLE = 'expects the name of a variable that it dropped to be taken';

const NOT_A_TEST = 'wants what the engine checks in tests only, and these runs are like programs';

const REASONS = new Map([
  ['AdadeltaOptimizer basic', DROPPED_LOSS],
  ['AdagradOptimizer basic', DROPPED_LOSS],
  ['AdamOptimizer basic', DROPPED_LOSS],
  ['AdamaxOptimizer basic', DROPPED_LOSS],
  ['MomentumOptimizer basic', DROPPED_LOSS],
  ['MomentumOptimizer basic - with Nesterov', DROPPED_LOSS],
  ['RMSPropOptimizer basic', DROPPED_LOSS],
  ['RMSPropOptimizer gradient with centered momentum', DROPPED_LOSS],
  ['SGDOptimizer basic', DROPPED_LOSS],
  ['optimizer basic', DROPPED_LOSS],
  ['tidy returns Tensor', DROPPED_TENSORS],
  ['tidy basic usage without return', DROPPED_TENSORS],
  ['tidy nested usage', DROPPED_TENSORS],
  ['gradients custom ops do not leak', DROPPED_TENSORS],
  ['qr Does not leak memory', DROPPED_TENSORS],
  ['mirrorPad does not leak memory', DROPPED_INPUT],
  ['pad 4d does not leak memory', DROPPED_INPUT],
  ['disposeVariables reuse same name variable', DROPPED_VARIABLE],
  ['variable if name already used, throw error', DROPPED_VARIABLE],
  ['Detects memory leaks in kernels Detects memory leak in a kernel', NOT_A_TEST],
]);

const WRONG_COUNT = /^(Expected \d+ to (be|equal) \d+\.|Expected function to throw an Error\.)$/;
/** jasmine_util puts the backend it tests on, and its flags, between the suite and the spec. */
const ENVIRONMENT = / (cpu|wasm|ebb|webgl|webgpu) \{[^}]*\} /;

/** Why a spec may differ; undefined if it may not. `messages` are those of its failed expectations. */
export function excuse(name, messages) {
  if (!messages.every((message) => WRONG_COUNT.test(message))) return undefined;
  return REASONS.get(name.replace(ENVIRONMENT, ' '));
}

/** One asks for a time by the GPU's clock, which stood still in 62 of 400 calls in Node without Ebb. */
const OF_THE_CLOCK = 'time cpu simple upload';
const NO_TIME = /^Expected 0 to be greater than 0\.$/;

/** Whether a spec has failed for the GPU's clock alone. */
export function stoodStill(name, { status, why }) {
  const isIt = name.replace(ENVIRONMENT, ' ') === OF_THE_CLOCK && status === 'failed';
  return isIt && why.every((message) => NO_TIME.test(message));
}

// Specs of the sources that pass where more is accepted, with the error that backend `ebb` gives in its place.
const AXIS = {
  error: /All values in axis param must be in range \[-0, 0\) but got axis 2/,
  reason: 'sums a scalar along axis 2, which it does not have: cpu takes any',
};
const AXES = { error: /Received 7 axes; allowed: at most 6/, reason: 'has tensors of seven axes' };
const REFUSED = new Map([
  ['High Dimensional Attention 5D_inputs_2D_attention', AXES],
  ['High Dimensional Attention 5D_inputs_2D_attention_fullmask', AXES],
  ['reduction executeOp Cumprod should call tfOps.cumprod', AXIS],
  ['reduction executeOp Cumsum should call tfOps.cumsum', AXIS],
  [
    'StartEndPacker tensor array input error',
    {
      error: /\[tensor_write\] 28 bytes were given, the tensor has 24/,
      reason:
        'makes a tensor of rows that differ in length, of which only cpu takes the shape of the first',
    },
  ],
]);

/** Why `ebb` may refuse what a spec begins with; undefined if it may not. */
export function refusal(name, messages) {
  const known = REFUSED.get(name);
  return known && messages.every((message) => known.error.test(message)) ? known.reason : undefined;
}
