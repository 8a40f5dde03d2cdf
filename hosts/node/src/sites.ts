// Where tensors are made: the first frames of the user's own code. Frames are looked up by position in
// their script, so a site that has been seen before costs no text.
import { fileURLToPath } from 'node:url';
import type { Native } from './native';

const FRAMES_KEPT = 2;
/** How far to look for the user's code, nearest first: each frame costs. */
const DEPTHS = [3, 12, 100];

type Capture = { stack: NodeJS.CallSite[] };
/** V8 has it, the types do not. */
type Position = NodeJS.CallSite & { getPosition(): number };

const OWN_FILES = __dirname;
const LIBRARY = /[\\/]node_modules[\\/]@tensorflow[\\/]/;

function isUserFile(file: string): boolean {
  return !file.startsWith('node:') && !file.includes(OWN_FILES) && !LIBRARY.test(file);
}

/** Frames by script and position; each leads to the frames that called it. */
class Frame {
  site = 0;
  readonly callers = new Map<string, Map<number, Frame>>();
}

export class Sites {
  on = false;
  private readonly root = new Frame();
  private readonly texts = new Map<number, string>();
  private readonly userFiles = new Map<string, boolean>();

  constructor(private readonly native: Native) {}

  /** The site of whoever called `below`, or 0 if no user's code did. */
  capture(below: (...args: never[]) => unknown): number {
    for (const depth of DEPTHS) {
      const frames = stack(below, depth);
      const site = this.locate(frames);
      if (site !== 0) return site;
      if (frames.length < depth) break;
    }
    return 0;
  }

  text(site: number): string {
    return this.texts.get(site) ?? '(site unknown: tracing was off)';
  }

  private locate(frames: NodeJS.CallSite[]): number {
    let first = 0;
    while (first < frames.length && !this.isUser(frames[first])) first++;
    if (first === frames.length) return 0;
    const end = Math.min(frames.length, first + FRAMES_KEPT);
    let frame = this.root;
    let last = first;
    for (; last < end && this.isUser(frames[last]); last++) frame = step(frame, frames[last] as Position);
    if (frame.site === 0) {
      const text = describe(frames.slice(first, last));
      frame.site = this.native.site(text);
      this.texts.set(frame.site, text);
    }
    return frame.site;
  }

  private isUser(frame: NodeJS.CallSite | undefined): boolean {
    const file = frame?.getFileName();
    if (file == null) return false;
    let user = this.userFiles.get(file);
    if (user === undefined) {
      user = isUserFile(file);
      this.userFiles.set(file, user);
    }
    return user;
  }
}

function step(frame: Frame, at: Position): Frame {
  const file = at.getFileName() as string;
  const position = at.getPosition();
  let positions = frame.callers.get(file);
  if (positions === undefined) frame.callers.set(file, (positions = new Map()));
  let caller = positions.get(position);
  if (caller === undefined) positions.set(position, (caller = new Frame()));
  return caller;
}

function describe(frames: NodeJS.CallSite[]): string {
  return frames
    .map((frame) => {
      const file = frame.getFileName() as string;
      const path = file.startsWith('file:') ? fileURLToPath(file) : file;
      const name = frame.getFunctionName();
      const place = `${path}:${frame.getLineNumber()}`;
      return name ? `${name} (${place})` : place;
    })
    .join('\n');
}

const asIs = (_error: Error, frames: NodeJS.CallSite[]): NodeJS.CallSite[] => frames;

// One for all captures: a new object each time would cost half as much again.
const captured = {} as Capture;

function stack(below: (...args: never[]) => unknown, limit: number): NodeJS.CallSite[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = limit;
  Error.prepareStackTrace = asIs;
  try {
    Error.captureStackTrace(captured, below);
    return captured.stack;
  } finally {
    captured.stack = NO_FRAMES; // frames know their receivers, which may be tensors
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  }
}

const NO_FRAMES: NodeJS.CallSite[] = [];
