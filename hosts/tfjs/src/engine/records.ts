// The engine's table of data, which TensorFlow.js asks seven times in the life of a tensor. A WeakMap there
// costs about as much as all that Ebb does for the tensor; here the record hangs on the data id itself.
import type { DataId, DataRecord, DataTable, Engine } from './tfjs';

// Other copies of this package know the table by these.
const RECORD = Symbol.for('ebb-tfjs.record');
const TABLE = Symbol.for('ebb-tfjs.table');

type Marked = { [RECORD]?: DataRecord | undefined; [TABLE]?: DataTable };

export class Records implements DataTable {
  readonly [TABLE] = true;

  /** `before`: the table of what the engine knew already, if it knew anything. */
  constructor(private readonly before?: DataTable) {}

  get(dataId: DataId): DataRecord | undefined {
    const marked = dataId as Marked;
    if (marked[TABLE] === this) return marked[RECORD];
    return this.before === undefined ? undefined : this.before.get(dataId);
  }

  has(dataId: DataId): boolean {
    return this.get(dataId) !== undefined;
  }

  set(dataId: DataId, record: DataRecord): void {
    const marked = dataId as Marked;
    marked[RECORD] = record;
    marked[TABLE] = this;
  }

  delete(dataId: DataId): boolean {
    const marked = dataId as Marked;
    if (marked[TABLE] !== this) return this.before !== undefined && this.before.delete(dataId);
    const known = marked[RECORD] !== undefined;
    marked[RECORD] = undefined;
    return known;
  }
}

/**
 * Lets the engine keep its records so; those it has stay where they are. A reset gives the engine TensorFlow.js's own
 * table again, which works as well, more slowly.
 */
export function keepRecords({ state }: Engine): void {
  if (TABLE in state.tensorInfo) return;
  state.tensorInfo = new Records(state.numTensors > 0 ? state.tensorInfo : undefined);
}
