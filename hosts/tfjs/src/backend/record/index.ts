// What `ebb.record` does, where backend `ebb` is there.
import { ofIsolate } from '../../host';
import { recordFunction } from './functions';
import { recordedFunctions, type RecordedInfo } from './known';
import { ownMethods } from './lives';
import { isModel, recordModel } from './models';
import type { RecordOptions } from './options';

export type { RecordedInfo, RecordOptions };

export interface Recorder {
  record<T extends object>(what: T, options?: RecordOptions): T;
  recorded(): RecordedInfo[];
}

function record<T extends object>(what: T, options: RecordOptions = {}): T {
  if (typeof what === 'function') return recordFunction(what as never, options) as T;
  return recordModel(what, options);
}

/** By TensorFlow.js's engine: each realm has its own, and copies of this package in one realm share it. */
export type Recorders = WeakMap<object, Recorder>;

/** The first copy that comes to an engine has made the backend there, too. */
export function installRecorder(engine: object): void {
  const recorders = ofIsolate<Recorders>('recorders', () => new WeakMap());
  if (recorders.has(engine)) return;
  ownMethods();
  recorders.set(engine, { record, recorded: recordedFunctions });
}

export { isModel };
