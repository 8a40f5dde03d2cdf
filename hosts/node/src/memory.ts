// Reading the books.
import { budget } from './budget';
import { badArgument, checkOptions } from './errors';
import { hooksIfAny } from './hooks';
import { type Counters, native } from './native';

export interface Memory extends Omit<
  Counters,
  'minorCollections' | 'majorCollections' | 'collectNs' | 'collectMaxNs' | 'lagLastNs' | 'lagMaxNs'
> {
  budget: number;
  collections: { minor: number; major: number; totalMs: number; longestMs: number };
  /** How long the oldest death notice waited for its memory's return: the last time, and at most. */
  lag: { lastMs: number; longestMs: number };
}

export interface MemoryOptions {
  /** The whole process, ended workers included, instead of this isolate. */
  everywhere?: boolean;
}

const MS = 1e-6;

/** The books of this isolate. A safe point: the dead that are known are given back first. */
export function memory(options: MemoryOptions = {}): Memory {
  checkOptions('memory', options, 'everywhere');
  const { everywhere = false } = options;
  const installed = hooksIfAny();
  installed?.safePoint();
  const {
    minorCollections,
    majorCollections,
    collectNs,
    collectMaxNs,
    lagLastNs,
    lagMaxNs,
    ...counters
  } = installed === undefined && !everywhere ? nothing() : native().memory(everywhere, 0);
  return {
    ...counters,
    budget: budget(),
    collections: {
      minor: minorCollections,
      major: majorCollections,
      totalMs: collectNs * MS,
      longestMs: collectMaxNs * MS,
    },
    lag: { lastMs: lagLastNs * MS, longestMs: lagMaxNs * MS },
  };
}

/** Before anything was watched: the same columns, all zero. */
function nothing(): Counters {
  const counters = native().memory(true, 0);
  for (const name of Object.keys(counters) as Array<keyof Counters>) counters[name] = 0;
  return counters;
}

/** Checks the law of the ledger, over everything; throws naming the sum that is off. */
export function audit(): void {
  native().audit();
}

export interface ReportOptions {
  /** How many sites. Default: 10. */
  top?: number;
  json?: boolean;
  everywhere?: boolean;
}

/** Who holds what, by creation site: text, or what `JSON.parse` makes of the JSON. */
export function report(options?: ReportOptions & { json?: false }): string;
export function report(options: ReportOptions & { json: true }): Record<string, unknown>;
export function report(options: ReportOptions = {}): string | Record<string, unknown> {
  checkOptions('report', options, 'top', 'json', 'everywhere');
  const { top = 10, json = false, everywhere = false } = options;
  if (!Number.isInteger(top) || top < 1)
    throw badArgument('report: top', top, 'a whole number from 1 on');
  const installed = hooksIfAny();
  installed?.safePoint();
  const text = native().report(top, json, everywhere || installed === undefined);
  return json ? (JSON.parse(text) as Record<string, unknown>) : text;
}

/** Writes everything that the books know, of the whole process, to a file: docs/snapshot.md describes it. */
export function snapshot(path: string): void {
  if (typeof path !== 'string' || path === '')
    throw badArgument('snapshot', path, 'the path of a file');
  hooksIfAny()?.safePoint();
  native().snapshot(path);
}
