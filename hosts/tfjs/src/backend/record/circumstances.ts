// What a function depends on beside what it is given and the values of tensors: a recording holds while it is the same.
import type { Optimizer, Tensor, Variable } from '@tensorflow/tfjs-core';
import { isTensor, isVariable, type Tensor as Owner } from '../../engine/tfjs';
import type { MaybeReason, Reason } from './reasons';
import type { Captured } from './recording';

/** A field as it was, and what is said where it is not. */
interface Field {
  of: Fields;
  name: string;
  value: unknown;
  why: Reason;
}

type Fields = Record<string, unknown>;
const fieldsOf = (optimizer: Optimizer): Fields => optimizer as unknown as Fields;

/** Steps that optimizers counted. */
export class Steps {
  private readonly counts = new Map<Optimizer, number>();
  add(optimizer: Optimizer): void {
    this.counts.set(optimizer, (this.counts.get(optimizer) ?? 0) + 1);
  }
  get optimizers(): Optimizer[] {
    return [...this.counts.keys()];
  }
  /** The same optimizers count as many once more. */
  countAgain(): void {
    for (const [optimizer, count] of this.counts) {
      const counter = optimizer as unknown as { incrementIterations(): void };
      for (let i = 0; i < count; i++) counter.incrementIterations();
    }
  }
}

/** A tensor that is no variable. */
const isScalar = (value: unknown): value is Tensor =>
  isTensor(value) && !isVariable(value as Owner);

const isOwnVariable = (value: unknown): boolean => isTensor(value) && isVariable(value as Owner);

/** An optimizer's numbers and switches, which are in the program as they were. */
function settingsOf(of: Fields): Field[] {
  const isSetting = ([name, value]: [string, unknown]): boolean =>
    name !== 'iterations_' && (typeof value === 'number' || typeof value === 'boolean');
  return Object.entries(of)
    .filter(isSetting)
    .map(([name, value]) => ({ of, name, value, why: `${name} of an optimizer changed` as const }));
}

const OTHERS = 'variables of an optimizer are others';

/** What an optimizer keeps from step to step, alone or in lists for each variable: `setWeights` makes others. */
function statesOf(of: Fields): Field[] {
  return Object.entries(of)
    .filter(([, value]) => isOwnVariable(value) || Array.isArray(value))
    .map(([name, value]) => ({ of, name, value, why: OTHERS }));
}

/** What it keeps for one variable. */
interface Slot {
  variable: unknown;
}

const slotsOf = (of: Fields): Slot[] =>
  Object.values(of)
    .flatMap((value) => (Array.isArray(value) ? (value as Array<Slot | null | undefined>) : []))
    .filter((slot): slot is Slot => isOwnVariable(slot?.variable));

/** A scalar of an optimizer: `setLearningRate` of some makes another, also of the same number. */
class ScalarOfOptimizer {
  readonly isDisposed = undefined;
  constructor(
    private readonly of: Fields,
    private readonly name: string,
  ) {}
  get dataId(): object {
    return (this.of[this.name] as Tensor).dataId;
  }
}

/** The same tensors, but each scalar of an optimizer is the one that it has at the time. */
export function followed(captured: Captured[], optimizers: readonly Optimizer[]): Captured[] {
  const scalars = new Map<object, ScalarOfOptimizer>();
  for (const of of optimizers.map(fieldsOf)) {
    for (const [name, value] of Object.entries(of)) {
      if (isScalar(value)) scalars.set(value.dataId, new ScalarOfOptimizer(of, name));
    }
  }
  return captured.map((each) => {
    const owner = scalars.get(each.owner.dataId);
    return owner === undefined ? each : { ...each, owner };
  });
}

export class Circumstances {
  private readonly fields: readonly Field[];
  private readonly slots: readonly Slot[];
  private readonly kept: readonly unknown[];
  private readonly trainable: readonly boolean[];

  constructor(
    optimizers: readonly Optimizer[],
    private readonly variables: readonly Variable[],
  ) {
    const all = optimizers.map(fieldsOf);
    this.fields = all.flatMap((of) => [...settingsOf(of), ...statesOf(of)]);
    this.slots = all.flatMap(slotsOf);
    this.kept = this.slots.map(({ variable }) => variable);
    this.trainable = variables.map(({ trainable }) => trainable);
  }

  /** What is different now; empty: nothing. */
  difference(): MaybeReason {
    const { variables, trainable, slots, kept, fields } = this;
    for (let i = 0; i < variables.length; i++) {
      if ((variables[i] as Variable).trainable !== trainable[i]) {
        return 'trainable of a variable changed';
      }
    }
    for (let i = 0; i < slots.length; i++) {
      if ((slots[i] as Slot).variable !== kept[i]) return OTHERS;
    }
    for (let i = 0; i < fields.length; i++) {
      const { of, name, value, why } = fields[i] as Field;
      if (!Object.is(of[name], value)) return why;
    }
    return '';
  }
}
