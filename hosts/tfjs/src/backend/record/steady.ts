// Values that are the same in each call of what is being recorded: a function may look at these, and at no others.
import type { EbbData } from '../data';
import { Op } from '../table';

const RANDOM: readonly number[] = [Op.RandomUniform, Op.RandomNormal, Op.Multinomial];

/** Constants, tensors from outside that nobody assigns to or fills again, and what operations make of these alone. */
export class SteadyValues {
  /** Native tensors that are given or made, and those from outside: whether they are steady. */
  private readonly own = new Map<number, boolean>();
  private readonly outside = new Map<number, boolean>();

  constructor(
    inputs: readonly number[],
    private readonly hasOwner: (dataId: object) => boolean,
  ) {
    this.made(inputs, false);
  }

  made(handles: readonly number[], areSteady: boolean): void {
    for (const handle of handles) this.own.set(handle, areSteady);
  }

  /** Without an operation: by what nothing is known of. */
  ran(op: number | undefined, inputs: readonly number[], results: readonly number[]): void {
    const isSteady = (handle: number): boolean =>
      handle === 0 || (this.own.get(handle) ?? this.outside.get(handle) ?? false);
    this.made(results, op !== undefined && !RANDOM.includes(op) && inputs.every(isSteady));
  }

  isOutside({ handle }: EbbData): boolean {
    return !this.own.has(handle);
  }

  has(dataId: object, data: EbbData): boolean {
    const { handle } = data;
    if (!this.isOutside(data)) return this.own.get(handle) as boolean;
    const isSteady = !this.hasOwner(dataId);
    this.outside.set(handle, isSteady);
    return isSteady;
  }
}
