// The recorded functions of the isolate, and what each has of the core.
import type { Tensor } from '@tensorflow/tfjs-core';
import { ofIsolate } from '../../host';
import type { Runtime } from '../runtime';

/** What a report says of a function. */
export interface RecordedInfo {
  name: string;
  calls: number;
  /** Calls that were one call of the core. */
  replayed: number;
  /** Times that it was recorded. */
  recorded: number;
  programs: number;
  /** Operations of all of them. */
  operations: number;
  /** Why it was recorded again or run by TensorFlow.js, and how often. */
  reasons: Record<string, number>;
}

/** Everything native that belongs to a function, apart from it: it is freed when the function is gone. */
export class Programs {
  private readonly all = new Map<number, Runtime>();
  add(program: number, runtime: Runtime): void {
    this.all.set(program, runtime);
  }
  free(program: number): void {
    this.all.get(program)?.programFree(program);
    this.all.delete(program);
  }
  freeAll(): void {
    for (const program of [...this.all.keys()]) this.free(program);
  }
}

interface Known {
  readonly programs: Programs;
  info(): RecordedInfo;
  /** Results that its calls fill again. */
  reused(): Tensor[];
}

const dropped = new FinalizationRegistry<Programs>((programs) => programs.freeAll());

/** All recorded functions of the isolate that are still there. */
const known = (): Set<WeakRef<Known>> => ofIsolate('recorded', () => new Set());

function* recordedNow(): Iterable<Known> {
  const all = known();
  for (const reference of all) {
    const recorded = reference.deref();
    if (recorded === undefined) all.delete(reference);
    else yield recorded;
  }
}

export function makeKnown(recorded: Known): void {
  dropped.register(recorded, recorded.programs);
  known().add(new WeakRef(recorded));
}

export const recordedFunctions = (): RecordedInfo[] =>
  Array.from(recordedNow(), (each) => each.info());

/** Results of all of them that calls fill again. */
export const allReused = (): Tensor[] => [...recordedNow()].flatMap((each) => each.reused());
