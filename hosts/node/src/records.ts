// The engine's table of data, which TensorFlow.js asks seven times in the life of a tensor. A WeakMap there
// costs about as much as all that Ebb does for the tensor; here the record hangs on the data id itself.
import type { DataId, DataRecord, DataTable } from './tfjs';

const RECORD = Symbol('ebb.record');

type Marked = { [RECORD]?: DataRecord | undefined };

export class Records implements DataTable {
  /** `before`: the table of what the engine knew already, if it knew anything. */
  constructor(private readonly before?: DataTable) {}

  get(dataId: DataId): DataRecord | undefined {
    const record = (dataId as Marked)[RECORD];
    if (record !== undefined && record.ebbTable === this) return record;
    return this.before === undefined ? undefined : this.before.get(dataId);
  }

  has(dataId: DataId): boolean {
    return this.get(dataId) !== undefined;
  }

  set(dataId: DataId, record: DataRecord): void {
    record.ebbTable = this;
    (dataId as Marked)[RECORD] = record;
  }

  delete(dataId: DataId): boolean {
    const record = (dataId as Marked)[RECORD];
    if (record === undefined || record.ebbTable !== this) {
      return this.before !== undefined && this.before.delete(dataId);
    }
    (dataId as Marked)[RECORD] = undefined;
    return true;
  }
}
