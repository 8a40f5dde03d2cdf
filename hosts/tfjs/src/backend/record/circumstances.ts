// What a function depends on beside what it is given and the values of tensors: a recording holds while it is the same.
import type { Optimizer, Variable } from '@tensorflow/tfjs-core';

/** A field as it was, and what is said where it is not. */
interface Field {
  of: Record<string, unknown>;
  name: string;
  value: unknown;
  why: string;
}

/** An optimizer's numbers and switches, which are in the program as they were. */
function settingsOf(optimizer: Optimizer): Field[] {
  const of = optimizer as unknown as Record<string, unknown>;
  const isSetting = ([name, value]: [string, unknown]): boolean =>
    name !== 'iterations_' && (typeof value === 'number' || typeof value === 'boolean');
  return Object.entries(of)
    .filter(isSetting)
    .map(([name, value]) => ({ of, name, value, why: `${name} of an optimizer changed` }));
}

export class Circumstances {
  private readonly fields: readonly Field[];
  private readonly trainable: readonly boolean[];

  constructor(
    optimizers: readonly Optimizer[],
    private readonly variables: readonly Variable[],
  ) {
    this.fields = optimizers.flatMap(settingsOf);
    this.trainable = variables.map(({ trainable }) => trainable);
  }

  /** What is different now; empty: nothing. */
  difference(): string {
    const { variables, trainable, fields } = this;
    for (let i = 0; i < variables.length; i++) {
      if ((variables[i] as Variable).trainable !== trainable[i]) {
        return 'trainable of a variable changed';
      }
    }
    for (let i = 0; i < fields.length; i++) {
      const { of, name, value, why } = fields[i] as Field;
      if (!Object.is(of[name], value)) return why;
    }
    return '';
  }
}
