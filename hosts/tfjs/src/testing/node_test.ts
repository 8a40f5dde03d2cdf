// `import { leavesNoTensors, staysWithin } from 'ebb-tfjs/node-test'`: assertions for node:test, or any other runner.
import { AssertionError } from 'node:assert';
import '../node/addon';
import {
  type CheckOptions,
  leaveNoTensors,
  type LeaveOptions,
  type Outcome,
  stayWithin,
} from './checks';

function demand({ pass, message }: Outcome, below: (...given: never[]) => unknown): void {
  if (!pass) throw new AssertionError({ message, stackStartFn: below });
}

export async function leavesNoTensors(run: () => unknown, options?: LeaveOptions): Promise<void> {
  demand(await leaveNoTensors(run, options), leavesNoTensors);
}

export async function staysWithin(
  run: () => unknown,
  size: number | string,
  options?: CheckOptions,
): Promise<void> {
  demand(await stayWithin(run, size, options), staysWithin);
}
