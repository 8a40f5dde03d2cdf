// The recorded functions of the isolate, and what each has of the core.
import { engine, type Tensor } from '@tensorflow/tfjs-core';
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

type References = Set<WeakRef<Known>>;

/** All recorded functions of the isolate that are still there. */
const known = (): References => ofIsolate('recorded', () => new Set());
/** Those of them that have been told to fill results again: each recording asks these for them. */
const reusing = (): References => ofIsolate('recorded with reuse', () => new Set());

const dropped = new FinalizationRegistry<{ programs: Programs; reference: WeakRef<Known> }>(
  ({ programs, reference }) => {
    programs.freeAll();
    known().delete(reference);
    reusing().delete(reference);
  },
);

const still = (references: References): Known[] =>
  Array.from(references, (each) => each.deref() ?? []).flat();

/** The reference by which the others are told that it reuses results. */
export function makeKnown(recorded: Known): WeakRef<Known> {
  const reference = new WeakRef(recorded);
  dropped.register(recorded, { programs: recorded.programs, reference });
  known().add(reference);
  return reference;
}

export function tellReuse(reference: WeakRef<Known>, reuses: boolean): void {
  if (reuses) reusing().add(reference);
  else reusing().delete(reference);
}

export const recordedFunctions = (): RecordedInfo[] => still(known()).map((each) => each.info());

/** Results of all of them that calls fill again, of this realm's engine. */
export function allReused(): Tensor[] {
  const { tensorInfo } = engine().state;
  const all = still(reusing()).flatMap((each) => each.reused());
  return all.filter(({ dataId }) => tensorInfo.has(dataId));
}
