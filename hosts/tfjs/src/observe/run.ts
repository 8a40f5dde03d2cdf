// What `ebb run` does in the program's process: records from the start, and says what it saw at the end, past the budget
// and on SIGUSR2. The program's own output is left alone: this goes to standard error.
import { writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  endAsItIs,
  recording,
  type RecordingMode,
  type RecordingOptions,
  usualPath,
} from '../api/recording';
import { type Hooks, hooks } from '../engine/hooks';
import { onEngine } from '../engine/tfjs';
import { find, findSync, whySetting } from './finding';
import { markIfRecorded, PROGRAM_ENDS } from './marks';
import { Rounds } from './rounds';
import { holdStandardStreams } from './standard_streams';
import { findTool, writePage } from './tool';
import { verdict } from './verdict';
import { collectNow } from './viewers';

const STDERR = 2;
/** Where it does not take all at once. */
const TRY_AGAIN_MS = 10;
const MOST_TRIES = 100;

/** Signals that end a program which does not listen for them. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Not by `process.stderr`, which programs put their own in place of. */
function say(text: string): void {
  holdStandardStreams();
  const bytes = Buffer.from(text);
  for (let at = 0, tries = 0; at < bytes.length; tries++) {
    try {
      at += writeSync(STDERR, bytes, at);
    } catch (error) {
      // Nobody reads it, or nobody for long.
      if ((error as { code?: string }).code !== 'EAGAIN' || tries === MOST_TRIES) return;
      wait(TRY_AGAIN_MS);
    }
  }
}

function wait(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

let rounds: Rounds | undefined;
let concluded = false;

/** What was written until now is on disk after this long. */
const ON_DISK_MS = 150;

/** Ends the recording; says why it ended before the program did, if so: it is good up to there. */
function ended(): string[] {
  try {
    endAsItIs();
    return [];
  } catch (error) {
    return [`the recording ends before the program: ${(error as Error).message}`];
  }
}

/**
 * At the end: nothing can be awaited any more. Nothing is given back before the recording ends: what the program's own
 * end lets go of was held while it ran.
 */
function conclude(): void {
  if (concluded) return;
  concluded = true;
  rounds?.stop();
  const tool = findTool();
  try {
    markIfRecorded(PROGRAM_ENDS);
    wait(ON_DISK_MS);
    const { path } = recording;
    const findings = tool === undefined ? undefined : findSync(tool, path);
    const notes = [...(findings?.notes ?? []), ...ended()];
    if (tool === undefined || findings === undefined)
      say([`ebb: recording: ${path}`, ...notes, ''].join('\n  '));
    else say(verdict({ ...findings, notes: [...notes, ...writePage(tool, path)] }));
  } catch (error) {
    say(`ebb: ${(error as Error).message}\n`);
  }
}

let telling = false;

/** While the program runs. */
async function tell(reason: string): Promise<void> {
  const tool = findTool();
  if (telling || concluded || tool === undefined) return;
  telling = true;
  try {
    collectNow();
    await new Promise((done) => setTimeout(done, 250)); // until the collection is on disk
    say(`ebb: ${reason}\n${verdict(await find(tool, recording.path))}`);
  } catch (error) {
    say(`ebb: ${(error as Error).message}\n`);
  } finally {
    telling = false;
  }
}

/** Not the program that `ebb run` began, but one that this began in turn: it has a file of its own. */
const isAnother = (): boolean =>
  process.env.EBB_RECORD_FOR !== undefined && process.env.EBB_RECORD_FOR !== String(process.ppid);

function file(): string {
  const path = resolve(process.env.EBB_RECORD_OUT || usualPath());
  if (!isAnother()) return path;
  return join(dirname(path), `${basename(path, '.ebbrec')}.${process.pid}.ebbrec`);
}

/** Dies of the signal as it would have, once everything is said. */
function endOf(signal: (typeof ENDING)[number], listener: () => void): void {
  if (process.listenerCount(signal) > 1) return; // the program decides what it means
  conclude();
  process.removeListener(signal, listener);
  process.kill(process.pid, signal);
}

function listen(): void {
  process.on('exit', conclude);
  process.on('SIGUSR2', () => void tell('asked by SIGUSR2'));
  process.on('warning', (warning: Error & { code?: string }) => {
    if (warning.code === 'EBB_OVER_BUDGET') void tell('past the budget');
  });
  for (const signal of ENDING) {
    const listener = (): void => endOf(signal, listener);
    process.on(signal, listener);
  }
}

/** Records as the environment asks; what cannot be written is said, and the program runs on. */
export function recordThisRun(mode: string): void {
  whySetting();
  const path = file();
  const { EBB_RECORD_MAX: max } = process.env;
  const options: RecordingOptions = { path, mode: mode as RecordingMode };
  if (max) options.max = max;
  try {
    recording.start(options);
  } catch (error) {
    if ((error as { code?: string }).code === 'EBB_INVALID_ARGUMENT') throw error;
    say(`ebb: nothing is recorded: ${(error as Error).message}\n`);
    return;
  }
  listen();
  const begun = (rounds = new Rounds(findTool(), path));
  onEngine(() => begun.attend(hooks() as Hooks));
}
