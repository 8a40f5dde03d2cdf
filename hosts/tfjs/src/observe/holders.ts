// Who holds tensors: a heap snapshot in which they are named, read by another process. It stops this one while V8
// writes the snapshot, and needs several times the memory that the heap has: for when somebody asks, never on the way.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import v8 from 'node:v8';
import type { Hooks } from '../engine/hooks';
import type { Tensor } from '../engine/tfjs';
import { EbbError } from '../errors';
import type { Holding } from './heap_paths';
import { GOES_ON, markIfRecorded, STANDS_STILL } from './marks';
import { amount } from './shown';
import { holdStandardStreams } from './standard_streams';

/** Above this a snapshot is not taken unless somebody insists. */
export const LARGEST_HEAP = 2 ** 30;
/** V8 takes some 1.4 KB for each object: 4 times the heap for records of 140 bytes an object, 25 times for the smallest. */
const SNAPSHOT_TO_HEAP = 10;
/** Of each place, so many tensors are looked up: the rest are held likewise. */
const MOST_OF_A_PLACE = 64;

/** Known by its name in the snapshot: heap_paths.ts, ASKED. */
class EbbAsked {
  constructor(readonly groups: object[][]) {}
}

/** What is asked for is in the snapshot because this holds it; the reader looks past it. */
const asking = new Set<EbbAsked>();

const READER = join(__dirname, 'heap_reader.js');
/** A snapshot of a gigabyte is read in arrays outside of the heap, but its tables grow with it. */
const MOST_OUTPUT = 1 << 28;

export function heapTooLarge(): string | undefined {
  const heap = v8.getHeapStatistics().used_heap_size;
  if (heap > LARGEST_HEAP)
    return `the heap has ${amount(heap)}, and a snapshot of it would stop the program and need several times as much`;
  const needed = heap * SNAPSHOT_TO_HEAP;
  const available = process.availableMemory?.() ?? freemem();
  if (needed <= available) return undefined;
  return `a snapshot of the heap may need ${amount(needed)}, and there are ${amount(available)}`;
}

/**
 * V8 looks up the line of every function for a snapshot, and reads its script from the start each time unless it has a
 * table of its lines; with a library of TensorFlow.js's size that takes seconds. A debugger makes it write these tables.
 */
function tabulateLines(): void {
  try {
    const session = new Session();
    session.connect();
    session.post('Debugger.enable');
    session.post('Debugger.disable');
    session.disconnect();
  } catch {
    // Without it the snapshot is the same, later.
  }
}

/** Empties the groups. */
function takeSnapshot(groups: object[][], force: boolean): string {
  const refused = force ? undefined : heapTooLarge();
  if (refused !== undefined)
    throw new EbbError(
      'EBB_WRONG_STATE',
      `[why] Not looked for: ${refused}; allowed: {force: true}.`,
    );
  const folder = mkdtempSync(join(tmpdir(), 'ebb-why-')); // 0700: a heap has everything in it
  tabulateLines();
  asking.add(new EbbAsked(groups));
  try {
    v8.writeHeapSnapshot(join(folder, 'heap.heapsnapshot'));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  } finally {
    asking.clear();
    // Whoever waits for the answer holds these lists: the next snapshot would find them holding what it asks for.
    for (const group of groups) group.length = 0;
  }
  return folder;
}

/** Recorded, that time is not the program's. */
function whileItStandsStill<T>(look: () => T): T {
  markIfRecorded(STANDS_STILL);
  try {
    return look();
  } finally {
    markIfRecorded(GOES_ON);
  }
}

/** The program's own flags are not the reader's: `--import ebb-tfjs/auto` would make it another program with reclaim. */
function readerCall(folder: string): [string, string[], object] {
  holdStandardStreams();
  const env = { ...process.env, NODE_OPTIONS: '', EBB_RECLAIM: '', EBB_RECORD: '' };
  const options = { encoding: 'utf8', maxBuffer: MOST_OUTPUT, env } as const;
  return [process.execPath, [READER, join(folder, 'heap.heapsnapshot')], options];
}

/** What holds these objects, group by group. The groups are empty then. */
export function findHoldings(groups: object[][], force: boolean): Promise<Holding[][]> {
  return readHoldings(whileItStandsStill(() => takeSnapshot(groups, force)));
}

async function readHoldings(folder: string): Promise<Holding[][]> {
  try {
    const { stdout } = await promisify(execFile)(...readerCall(folder));
    return JSON.parse(String(stdout)) as Holding[][];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The line that says what went wrong: Node writes a stack and its version after it. */
function complaintIn(text: string): string {
  const lines = text.trim().split('\n');
  return lines.find((line) => /\berror\b/i.test(line)) ?? lines.at(-1) ?? '';
}

/** The same where nothing can be awaited any more. */
export function findHoldingsSync(groups: object[][], force: boolean): Holding[][] {
  return whileItStandsStill(() => {
    const folder = takeSnapshot(groups, force);
    try {
      const { status, stdout, stderr } = spawnSync(...readerCall(folder));
      if (status !== 0) throw new Error(complaintIn(String(stderr)));
      return JSON.parse(String(stdout)) as Holding[][];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** Tensors of a place that can still be reached, some of them if they are many. */
export function tensorsOf({ books, sites }: Hooks, place: string): Tensor[] {
  const wanted = new Set(sites.withText(place));
  const slots = [...books.slots.live()].filter((slot) => wanted.has(books.slots.site(slot)));
  const step = Math.max(1, slots.length / MOST_OF_A_PLACE);
  const found: Tensor[] = [];
  for (let at = 0; at < slots.length; at += step) {
    const tensor = books.tensor(slots[Math.floor(at)] as number);
    if (tensor !== undefined) found.push(tensor);
  }
  return found;
}

/** What most of these are held by, however their places in it differ; undefined: running code, or nothing. */
export function mostly(holdings: Holding[]): string | undefined {
  const counts = new Map<string, { count: number; example: string }>();
  for (const { heldBy } of holdings) {
    if (heldBy === undefined) continue;
    const way = heldBy.replace(/\[\d+\]/g, '[]').replace(/\.get\(.*?\)(?= |$)/g, '.get()');
    const known = counts.get(way);
    if (known === undefined) counts.set(way, { count: 1, example: heldBy });
    else known.count++;
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)[0]?.example;
}
