// What ebb-tfjs has in Node and in a page: the list of both index.ts.
export { budget, type BudgetOptions, trim } from './api/budget';
export { collect } from './api/collect';
export { EbbError } from './errors';
export { expectNoLeaks, type LeakOptions } from './api/leaks';
export {
  audit,
  memory,
  type Memory,
  type MemoryOptions,
  report,
  type ReportOptions,
} from './api/memory';
export { reclaim, type ReclaimOptions } from './api/reclaim';
export { tidy, type TidyScope } from './api/tidy';
export { trace, type TraceOptions } from './api/trace';
