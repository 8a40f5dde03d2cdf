// `ebb.record(model)`: what predicts, trains and evaluates in a layers model, predict and execute of a graph model.
import { badArgument } from '../../errors';
import { recordBound, type RecordedFunction } from './functions';
import type { RecordedInfo } from './known';
import type { RecordOptions } from './options';
import type { Recorded } from './recorded';
import { identityOf } from './values';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- methods and fields that TensorFlow.js keeps private
type Model = Record<string | symbol, any>;
type Method = (...args: unknown[]) => unknown;

const RECORDED = Symbol.for('ebb-tfjs.recorded');

/** `train`: the step of trainOnBatch, fit and fitDataset; `test`: that of evaluate, evaluateDataset and validation. */
type Part = 'predict' | 'predictOnBatch' | 'execute' | 'train' | 'test';
const COMPILED: readonly Part[] = ['train', 'test'];

/** What there is of a recorded model beside the model. */
export interface RecordedModel {
  /** What a report says of its parts, of those that were called. */
  info(): { [part in Part]?: RecordedInfo };
  /** Forgets its recordings, and ends what they keep. A later call is recorded again. */
  dispose(): void;
}

type RecordedMethod = Method & RecordedFunction & Pick<Recorded, 'set'>;

/** What does a part's work, and the model whose it is: that within a sequential one is another after compile(). */
interface Own {
  model: Model;
  method: Method;
}

/** The parts of a model, each one recorded function, also where the model within a sequential one is another later. */
class Parts implements RecordedModel {
  private readonly recorded = new Map<Part, RecordedMethod>();
  /** The ones that were asked for, or called, last. */
  private readonly own = new Map<Part, Own>();

  constructor(
    private readonly name: string,
    private options: RecordOptions,
  ) {}

  info(): { [part in Part]?: RecordedInfo } {
    return Object.fromEntries(Array.from(this.recorded, ([part, each]) => [part, each.info()]));
  }

  dispose(): void {
    for (const each of this.recorded.values()) each.dispose();
  }

  /** Options that are given later count from then on; where one is another, what was recorded before is forgotten. */
  set(more: RecordOptions): void {
    const names = Object.keys(more) as Array<keyof RecordOptions>;
    if (names.every((name) => more[name] === this.options[name])) return;
    this.options = { ...this.options, ...more };
    for (const [part, recorded] of this.recorded) recorded.set(this.optionsOf(part));
  }

  take(model: Model): void {
    if (model[RECORDED] !== undefined) return;
    Object.defineProperty(model, RECORDED, { value: this });
    this.dispose();
    for (const part of ['predict', 'predictOnBatch'] as const) this.takeMethod(model, part);
    if (typeof model.makeTrainFunction !== 'function') return this.takeMethod(model, 'execute');
    this.replace(model, 'makeTrainFunction', (make) => () => {
      const known = this.own.get('train');
      const method = known?.model === model ? known.method : (make() as Method);
      return this.compiled('train', { model, method });
    });
    this.replace(model, 'makeTestFunction', (make) => () => {
      make();
      model.testFunction = this.compiled('test', { model, method: model.testFunction as Method });
    });
  }

  /** With its first call: a report lists what was called. */
  private takeMethod(model: Model, part: Part): void {
    this.replace(model, part, (method) => {
      const first: Method = (...args) => {
        const recorded = this.part(part, { model, method });
        if (model[part] === first) model[part] = recorded;
        return recorded(...args);
      };
      return first;
    });
  }

  /** What it has recorded ends with the model. */
  endWith(model: Model): void {
    this.replace(model, 'dispose', (dispose) => () => {
      this.dispose();
      return dispose();
    });
  }

  private replace(model: Model, method: string, how: (own: Method) => Method): void {
    const own = model[method] as Method | undefined;
    if (typeof own === 'function') model[method] = how(own.bind(model) as Method);
  }

  private part(part: Part, own: Own): Method {
    this.own.set(part, own);
    let recorded = this.recorded.get(part);
    if (recorded === undefined) {
      const now: Method = (...args) => this.own.get(part)?.method(...args);
      this.recorded.set(part, (recorded = recordBound(now, this.optionsOf(part))));
    }
    return recorded;
  }

  /** A fit goes on with the model that it began with, also where a callback has compiled and used another. */
  private compiled(part: Part, own: Own): Method {
    const recorded = this.part(part, own);
    return (...args) => {
      this.own.set(part, own);
      return recorded(...args);
    };
  }

  private optionsOf(part: Part): RecordOptions {
    const name = `${this.options.name ?? this.name}.${part}`;
    return { ...this.options, name, key: this.keyOf(part) };
  }

  private keyOf(part: Part): RecordOptions['key'] {
    const { key } = this.options;
    if (!COMPILED.includes(part)) return key;
    const compiled = this.keyOfCompiled(part);
    if (key === undefined) return compiled;
    return () => [compiled(), key()];
  }

  /** What a training step depends on beside tensors, as a text: compile() makes all of these anew. */
  private keyOfCompiled(part: Part): () => string {
    let last: unknown[] = [];
    let text = '';
    return () => {
      const { model } = this.own.get(part) as Own;
      const now = [
        model,
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
}

const partsOf = (model: Model): Parts | undefined => model[RECORDED] as Parts | undefined;

/** Undefined for a model that is not recorded. */
export function recordedModel(model: object): RecordedModel | undefined {
  const parts = partsOf(model as Model);
  return parts && { info: () => parts.info(), dispose: () => parts.dispose() };
}

export function recordModel<M extends object>(given: M, options: RecordOptions = {}): M {
  const model = given as Model;
  const before = partsOf(model);
  if (before !== undefined) {
    before.set(options);
    return given;
  }
  if (!Object.isExtensible(model))
    throw badArgument('record', model, 'models whose methods can be replaced: not frozen ones');
  const recorded = new Parts((model.name as string | undefined) ?? 'model', options);
  recorded.endWith(model);
  if (typeof model.add !== 'function' || typeof model.build !== 'function') {
    recorded.take(model);
    return given;
  }
  // A sequential model has another one within, which compile() makes anew.
  Object.defineProperty(model, RECORDED, { value: recorded });
  const build = model.build.bind(model) as Method;
  model.build = (...args: unknown[]) => {
    build(...args);
    if (model.model != null) recorded.take(model.model as Model);
  };
  if (model.model == null) (model.build as Method)();
  else recorded.take(model.model as Model);
  return given;
}
