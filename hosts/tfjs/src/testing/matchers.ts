// Matchers as jest and vitest take them: `expect.extend(matchers)`.
import { leaveNoTensors, type LeaveOptions, type CheckOptions, stayWithin } from './checks';

interface Matched {
  pass: boolean;
  message: () => string;
}

type Run = () => unknown;

export const matchers = {
  async toLeaveNoTensors(run: Run, options?: LeaveOptions): Promise<Matched> {
    const { pass, message } = await leaveNoTensors(run, options);
    return { pass, message: () => message };
  },
  async toStayWithin(run: Run, size: number | string, options?: CheckOptions): Promise<Matched> {
    const { pass, message } = await stayWithin(run, size, options);
    return { pass, message: () => message };
  },
};

/** What the matchers add to `expect(...)`, for types. */
export interface EbbMatchers<Result = Promise<void>> {
  toLeaveNoTensors(options?: LeaveOptions): Result;
  toStayWithin(size: number | string, options?: CheckOptions): Result;
}
