// `ebb.record(model)`: predict, trainOnBatch, fit and evaluate of a layers model, predict and execute of a graph model.
import type { RecordOptions } from './options';
import { recordFunction } from './recorded';
import { identityOf } from './values';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- methods and fields that TensorFlow.js keeps private
type Model = Record<string | symbol, any>;
type Method = (...args: unknown[]) => unknown;

const RECORDED = Symbol.for('ebb-tfjs.recorded');

export function isModel(value: unknown): value is Model {
  const model = value as Model | null;
  return typeof model === 'object' && model !== null && typeof model.predict === 'function';
}

/** What a training step depends on beside tensors, as a text: compile() makes all of these anew. */
function compiled(model: Model): () => string {
  let last: unknown[] = [];
  let text = '';
  return () => {
    const now = [
      model.optimizer_,
      model.lossFunctions,
      model.metricsTensors,
      model.collectedTrainableWeights,
    ] as Array<object | null | undefined>;
    if (now.some((each, i) => each !== last[i]) || text === '') {
      last = now;
      text = now.map((each) => (each == null ? 0 : identityOf(each))).join();
    }
    return text;
  };
}

function replace(model: Model, method: string, how: (own: Method) => Method): void {
  const own = model[method] as Method | undefined;
  if (typeof own === 'function') model[method] = how(own.bind(model) as Method);
}

export function recordModel<M extends object>(given: M, options: RecordOptions = {}): M {
  const outer = given as Model;
  const isSequential = typeof outer.add === 'function' && typeof outer.build === 'function';
  if (isSequential && outer.model == null) (outer.build as Method)();
  const model = (isSequential ? outer.model : outer) as Model;
  if (model[RECORDED] === true) return given;
  Object.defineProperty(model, RECORDED, { value: true });
  const name = options.name ?? (outer.name as string | undefined) ?? 'model';
  const named = (part: string): RecordOptions => ({ ...options, name: `${name}.${part}` });
  replace(model, 'predict', (own) => recordFunction(own, named('predict')));
  if (typeof model.makeTrainFunction !== 'function') {
    replace(model, 'execute', (own) => recordFunction(own, named('execute')));
    return given;
  }
  const key = compiled(model);
  let train: Method | undefined;
  replace(model, 'makeTrainFunction', (own) => () => {
    return (train ??= recordFunction(own() as Method, { ...named('train'), key }));
  });
  let test: Method | undefined;
  replace(model, 'makeTestFunction', (own) => () => {
    own();
    test ??= recordFunction(model.testFunction as Method, { ...named('test'), key });
    model.testFunction = test;
  });
  return given;
}
