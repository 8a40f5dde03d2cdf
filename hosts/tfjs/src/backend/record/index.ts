// What `ebb.record` does, where backend `ebb` is there.
import { ofIsolate } from '../../host';
import { type RecordedFunction, recordFunction } from './functions';
import { recordedFunctions, type RecordedInfo } from './known';
import { ownMethods } from './lives';
import { type RecordedModel, recordedModel, recordModel } from './models';
import type { RecordOptions } from './options';
import type { Fn } from './recorded';

export type { RecordedFunction, RecordedInfo, RecordedModel, RecordOptions };

export interface Recorder {
  /** A function in this one's place, or the model itself. */
  record(what: object, options: RecordOptions): object;
  recorded(): RecordedInfo[];
  recordedModel(model: object): RecordedModel | undefined;
}

function record(what: object, options: RecordOptions): object {
  ownMethods();
  return typeof what === 'function'
    ? recordFunction(what as Fn, options)
    : recordModel(what, options);
}

/** By TensorFlow.js's engine: each realm has its own, and copies of this package in one realm share it. */
export type Recorders = WeakMap<object, Recorder>;

/** The first copy that comes to an engine has made the backend there, too. */
export function installRecorder(engine: object): void {
  const recorders = ofIsolate<Recorders>('recorders', () => new WeakMap());
  if (recorders.has(engine)) return;
  recorders.set(engine, { record, recorded: recordedFunctions, recordedModel });
}
