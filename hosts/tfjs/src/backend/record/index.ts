// What `ebb.record` does, where backend `ebb` is there.
import { ofIsolate } from '../../host';
import { recordFunction } from './functions';
import { recordedFunctions, type RecordedInfo } from './known';
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

export function installRecorder(): void {
  ofIsolate<Recorder>('recorder', () => ({ record, recorded: recordedFunctions }));
}

export { isModel };
