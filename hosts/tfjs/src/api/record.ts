// `ebb.record`: functions and models that are replayed by one call of the core (docs/record.md).
import type {
  RecordedFunction,
  RecordedInfo,
  RecordedModel,
  Recorder,
  Recorders,
  RecordOptions,
} from '../backend/record';
import { currentEngine } from '../engine/tfjs';
import { badArgument, checkFlag, checkOptions, EbbError } from '../errors';
import { isolatePart } from '../host';

export type { RecordedFunction, RecordedInfo, RecordedModel, RecordOptions };

const FLAGS = [
  'fold',
  'drop',
  'fuse',
  'absorb',
  'join',
  'keep',
  'overwrite',
  'share',
  'exact',
  'graphs',
  'guards',
  'reuse',
] as const satisfies ReadonlyArray<keyof RecordOptions>;

function isModel(what: unknown): what is object {
  const model = what as { predict?: unknown } | null | undefined;
  return typeof model === 'object' && typeof model?.predict === 'function';
}

function checkRecordOptions(options: RecordOptions): void {
  if (Array.isArray(options)) throw badArgument('record', options, 'an object');
  checkOptions('record', options, 'name', 'cache', 'key', ...FLAGS);
  for (const name of FLAGS) checkFlag(`record: ${name}`, options[name]);
  const { cache = 1, name, key } = options;
  if (!Number.isInteger(cache) || cache < 1)
    throw badArgument('record: cache', cache, 'a whole number from 1 on');
  if (name !== undefined && typeof name !== 'string')
    throw badArgument('record: name', name, 'a text');
  if (key !== undefined && typeof key !== 'function')
    throw badArgument('record: key', key, 'a function');
}

/** That of the engine in use here. */
function recorderHere(): Recorder | undefined {
  const engine = currentEngine();
  return engine && isolatePart<Recorders>('recorders')?.get(engine);
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any function
type Fn = (...args: any[]) => unknown;

/** A function that does what fn does: at first through TensorFlow.js, then by one call of the core. */
export function record<F extends Fn>(fn: F, options?: RecordOptions): F & RecordedFunction;
/** The model, of which calls are from now on one call of the core each, once they have been recorded. */
export function record<M extends object>(model: M, options?: RecordOptions): M;
export function record(what: object, options: RecordOptions = {}): object {
  if (typeof what !== 'function' && !isModel(what))
    throw badArgument('record', what, 'a function, or a model');
  checkRecordOptions(options);
  const recorder = recorderHere();
  if (recorder !== undefined) return recorder.record(what, options);
  throw new EbbError(
    'EBB_UNSUPPORTED',
    "[record] Backend ebb is not loaded; allowed: after require('ebb-tfjs/backend').",
  );
}

/** What there is of a model that `record` was given: what a report says of it, and a way to forget it. */
export function recorded(model: object): RecordedModel | undefined {
  if (!isModel(model)) throw badArgument('recorded', model, 'a model');
  return recorderHere()?.recordedModel(model);
}

/** What is known of the functions that were recorded. */
export function recordedFunctions(): RecordedInfo[] {
  return recorderHere()?.recorded() ?? [];
}

/** The same as lines of a report. */
export function recordedLines(): string {
  const lines = recordedFunctions().map(
    ({ name, calls, replayed, recorded, programs, operations, reasons }) => {
      const why = Object.entries(reasons).map(([reason, count]) => `${count} x ${reason}`);
      const rest = why.length === 0 ? '' : `; ${why.join(', ')}`;
      return (
        `  ${name}: ${calls} calls, ${replayed} replayed, recorded ${recorded} times ` +
        `(${programs} programs of ${operations} operations)${rest}\n`
      );
    },
  );
  return lines.length === 0 ? '' : `recorded functions:\n${lines.join('')}`;
}
