// Reading the books.
import { hooksIfAny } from '../engine/hooks';
import { badArgument, checkFlag, checkOptions } from '../errors';
import { host } from '../host';
import { fileToWrite } from '../node/files';
import { COLUMNS } from '../shared';
import { budget } from './budget';
import { recordedFunctions, recordedLines } from './record';
import { tapeLine } from './tape';

/** The counters of the core, as its `ebb_memory` names them. */
type Counters = Record<(typeof COLUMNS)[number], number>;
/** Those that are told together. */
type Grouped =
  'collectionsMinor' | 'collectionsMajor' | 'collectNs' | 'collectMaxNs' | 'lagLastNs' | 'lagMaxNs';

export interface Memory extends Omit<Counters, Grouped> {
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
  checkFlag('memory: everywhere', options.everywhere);
  const { everywhere = false } = options;
  const installed = hooksIfAny();
  installed?.safePoint();
  const watching = installed !== undefined || everywhere;
  const values = watching ? host().memory(everywhere, 0) : [];
  const all = Object.fromEntries(COLUMNS.map((name, i) => [name, values[i] ?? 0])) as Counters;
  const {
    collectionsMinor,
    collectionsMajor,
    collectNs,
    collectMaxNs,
    lagLastNs,
    lagMaxNs,
    ...counters
  } = all;
  if (installed !== undefined) counters.unwatched += installed.books.unwatchedOwn;
  return {
    ...counters,
    budget: budget(),
    collections: {
      minor: collectionsMinor,
      major: collectionsMajor,
      totalMs: collectNs * MS,
      longestMs: collectMaxNs * MS,
    },
    lag: { lastMs: lagLastNs * MS, longestMs: lagMaxNs * MS },
  };
}

/** Checks the law of the ledger, over everything; throws naming the sum that is off. */
export function audit(): void {
  host().audit();
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
  checkFlag('report: json', options.json);
  checkFlag('report: everywhere', options.everywhere);
  const { top = 10, json = false, everywhere = false } = options;
  if (!Number.isInteger(top) || top < 1)
    throw badArgument('report: top', top, 'a whole number from 1 on');
  const installed = hooksIfAny();
  installed?.safePoint();
  const text = host().report(top, json, everywhere || installed === undefined);
  if (!json) return text + recordedLines() + tapeLine();
  return { ...(JSON.parse(text) as Record<string, unknown>), recorded: recordedFunctions() };
}

/** Writes everything that the books know, of the whole process, to a file: docs/snapshot.md describes it. */
export function snapshot(path: string): void {
  if (typeof path !== 'string' || path === '')
    throw badArgument('snapshot', path, 'the path of a file');
  const file = fileToWrite('snapshot', path);
  hooksIfAny()?.safePoint();
  host().snapshot(file);
}
