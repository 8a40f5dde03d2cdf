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
    let frame = this.root;
    let kept = 0;
    let first = 0;
    for (let i = 0; i < frames.length && kept < FRAMES_KEPT; i++) {
      const at = frames[i] as Position;
      const file = at.getFileName();
      if (file != null && this.isUser(file)) {
        frame = step(frame, file, at.getPosition());
        if (kept++ === 0) first = i;
      } else if (kept > 0) break;
    }
    if (kept === 0) return 0;
    if (frame.site === 0) {
      const text = describe(frames.slice(first, first + kept));
      frame.site = this.native.site(text);
      this.texts.set(frame.site, text);
    }
    return frame.site;
  }

  private isUser(file: string): boolean {
    let user = this.userFiles.get(file);
    if (user === undefined) {
      user = isUserFile(file);
      this.userFiles.set(file, user);
    }
    return user;
  }
}

function step(frame: Frame, file: string, position: number): Frame {
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

/** Used again and again: defining `stack` on a new object costs more. */
const captured = {} as Capture;

function stack(below: (...args: never[]) => unknown, limit: number): NodeJS.CallSite[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = limit;
  Error.prepareStackTrace = asIs;
  Error.captureStackTrace(captured, below);
  const { stack: frames } = captured;
  Error.stackTraceLimit = stackTraceLimit;
  Error.prepareStackTrace = prepareStackTrace;
  return frames;
}
