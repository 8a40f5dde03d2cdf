// Recording what happens to memory, for the tool `ebb`: docs/observe.md.
import { hooks, hooksIfAny } from '../engine/hooks';
import { onEngine } from '../engine/tfjs';
import { badArgument, checkOptions, EbbError } from '../errors';
import { host, ofIsolate } from '../host';
import { fileToRecord } from '../node/files';
import { answerViewers } from '../observe/viewers';
import { parseBytes } from './budget';
import { trace } from './trace';

export const RECORDING_MODES = ['counters', 'sampled', 'full'] as const;
export type RecordingMode = (typeof RECORDING_MODES)[number];

export interface RecordingOptions {
  /** The file, which is replaced. Default: the program's name with `.ebbrec`, in the working folder. */
  path?: string;
  /** What is written: what devices hold; every event, and some places; every event with its place. Default: sampled. */
  mode?: RecordingMode;
  /** What the file and its older segments may take, such as '256MB'. Default: no limit. */
  max?: number | string;
  /** A place for about each so many bytes, in mode sampled. Default: 512 KB. */
  sampleBytes?: number | string;
  /** What is recorded, for people. Default: the program's path. */
  name?: string;
}

export interface RecordingState {
  /** Undefined: there is none, or it gave up. */
  mode: RecordingMode | undefined;
  bytes: number;
  events: number;
  lost: number;
  segments: number;
  /** It had to give up; `stop` says why. */
  failed: boolean;
}

const ATTEND_EVERY_MS = 100;

interface Current {
  path: string;
  timer: NodeJS.Timeout | undefined;
}
const current = (): Current => ofIsolate('recording', () => ({ path: '', timer: undefined }));

export function modeNumber(what: string, mode: unknown): number {
  const at = RECORDING_MODES.indexOf(mode as RecordingMode);
  if (at < 0) throw badArgument(what, mode, RECORDING_MODES.map((one) => `'${one}'`).join(', '));
  return at + 1;
}

function checkText(what: string, text: unknown): void {
  if (typeof text !== 'string' || text === '' || text.includes('\0'))
    throw badArgument(what, text, 'text');
}

/** The program's name, in the working folder. */
export function usualPath(): string {
  const name = /([^\\/]+?)(\.[cm]?[jt]s)?$/.exec(process.argv[1] ?? '')?.[1] ?? 'node';
  return `${name}.ebbrec`;
}

/** The collector's figure, for the counters of the recording; and what viewers wish. */
function attend(): void {
  host().recordHostHeap?.(process.memoryUsage().heapUsed);
  answerViewers(current().path);
}

/** Viewers may attach. Where they cannot, the recording is the same. */
function goLive(): void {
  try {
    host().liveStart?.();
  } catch (error) {
    if ((error as { code?: string }).code !== 'EBB_DEVICE_ERROR') throw error;
  }
}

/** Where every tensor gets a place there is nothing to sample: its places would be counted many times over. */
function fitting(mode: number): number {
  return mode === 2 && trace.isOn ? 3 : mode;
}

/** Ends the recording, and gives nothing back before. */
export function endAsItIs(): string {
  const now = current();
  clearInterval(now.timer);
  now.timer = undefined;
  host().recordStop?.();
  return now.path;
}

export const recording = {
  /** Begins to write. The program never waits for it. */
  start(options: RecordingOptions = {}): void {
    checkOptions('recording.start', options, 'path', 'mode', 'max', 'sampleBytes', 'name');
    const { path = usualPath(), mode = 'sampled', max, sampleBytes } = options;
    const { name = process.argv[1] ?? 'node' } = options;
    const number = modeNumber('recording.start: mode', mode);
    checkText('recording.start: path', path);
    checkText('recording.start: name', name);
    const most = max === undefined ? 0 : parseBytes(max, 'recording.start: max');
    const mean =
      sampleBytes === undefined ? 0 : parseBytes(sampleBytes, 'recording.start: sampleBytes');
    const calls = host();
    if (calls.recordStart === undefined)
      throw new EbbError('EBB_UNSUPPORTED', '[recording.start] There is no recording here.');
    const file = fileToRecord('recording.start', path);
    calls.recordStart(fitting(number), file, name, most, mean);
    const now = current();
    now.path = file;
    clearInterval(now.timer);
    now.timer = setInterval(attend, ATTEND_EVERY_MS).unref();
    attend();
    goLive();
    onEngine(hooks); // what nobody books cannot be recorded
  },

  /** Writes what is left, and ends it. Throws, with the reason, if it had to give up before. Says where it is. */
  stop(): string {
    hooksIfAny()?.safePoint();
    return endAsItIs();
  },

  /** More or less of it from now on; without an argument, how much it is. */
  mode(mode?: RecordingMode): RecordingMode | undefined {
    if (mode !== undefined) host().recordMode?.(fitting(modeNumber('recording.mode', mode)));
    return this.state().mode;
  },

  /** A line of text at this moment: an epoch, a request. */
  mark(text: string): void {
    checkText('recording.mark', text);
    host().recordMark?.(text);
  },

  state(): RecordingState {
    const [mode = 0, bytes = 0, events = 0, lost = 0, , segments = 0, failed = 0] =
      host().recordRead?.() ?? [];
    return {
      mode: RECORDING_MODES[mode - 1],
      bytes,
      events,
      lost,
      segments,
      failed: failed !== 0,
    };
  },

  get isOn(): boolean {
    return this.state().mode !== undefined;
  },

  /** The file of the recording that was begun last here; empty: none was. */
  get path(): string {
    return current().path;
  },
};
