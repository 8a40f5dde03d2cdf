// Where tensors are made: the first frames of the user's own code. Frames are looked up by position in
// their script, so a site that has been seen before costs no text.
import { fileURLToPath } from 'node:url';
import type { Native } from './native';

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
  /** Frames of the user's code that make a site. */
  frames = 1;
  private readonly root = new Frame();
  private readonly texts = new Map<number, string>();
  /** By operation, how many functions of TensorFlow.js were behind it last time: `a.add(b)` has one more. */
  private readonly between = new Map<string, number>();
  /** Where the user's code began in the stack that was looked at last. */
  private first = 0;
  private readonly userFiles = new Map<string, boolean>();

  constructor(private readonly native: Native) {}

  /** The site of whoever called an operation, which called `below`; 0 if no user's code did. */
  ofOperation(below: (...args: never[]) => unknown, name: string): number {
    const between = this.between.get(name) ?? 1;
    const site = this.search(below, between + this.frames);
    if (this.first !== between) this.between.set(name, this.first);
    return site;
  }

  /** The site of whoever called `below`, directly or not; 0 if no user's code did. `depth`: how far to look first. */
  search(below: (...args: never[]) => unknown, depth: number): number {
    const frames = stack(below, depth);
    const site = this.locate(frames, frames.length < depth);
    return site !== 0 || frames.length < depth ? site : this.search(below, depth * 6);
  }

  text(site: number): string {
    return this.texts.get(site) ?? '(site unknown: tracing was off)';
  }

  /** `whole`: there are no more frames than these. Otherwise 0 means that more are needed. */
  private locate(frames: NodeJS.CallSite[], whole: boolean): number {
    let frame = this.root;
    let first = 0;
    while (first < frames.length && !this.isUser(frames[first] as Position)) first++;
    let end = first;
    for (; end < frames.length && end < first + this.frames; end++) {
      const at = frames[end] as Position;
      if (!this.isUser(at)) break;
      frame = step(frame, at.getFileName() as string, at.getPosition());
    }
    this.first = first;
    if (end === first || (end === frames.length && end < first + this.frames && !whole)) return 0;
    if (frame.site === 0) {
      const text = describe(frames.slice(first, end));
      frame.site = this.native.site(text);
      this.texts.set(frame.site, text);
    }
    return frame.site;
  }

  private isUser(at: Position): boolean {
    const file = at.getFileName();
    if (file == null) return false;
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
