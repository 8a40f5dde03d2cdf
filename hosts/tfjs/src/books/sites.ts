// Where tensors are made: the first frames of the user's own code. Frames are looked up by position in
// their script, so a site that has been seen before costs no text.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Host } from '../host';

type Capture = { stack: NodeJS.CallSite[] };
/** V8 has it, the types do not. */
type Position = NodeJS.CallSite & { getPosition(): number };

const OWN_FILES = join(__dirname, '..');
const LIBRARY = /[\\/]node_modules[\\/]@tensorflow[\\/]/;

/** Frames of the user's code where only some tensors are looked at. */
const SAMPLED_FRAMES = 8;

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
  /** Frames that `sample` asks for. */
  private sampledDepth = 3 * SAMPLED_FRAMES;
  private readonly userFiles = new Map<string, boolean>();

  constructor(private readonly host: Host) {}

  /**
   * Before a function that an operation calls takes the stack itself, into what this returns: V8 decodes every
   * function on the way, so there must be none in between. `ofOperation` reads it.
   */
  beforeOperation(name: string): Capture {
    prepare((this.between.get(name) ?? 1) + this.frames);
    return captured;
  }

  /** The site of whoever called the operation, which called `below`; 0 if no user's code did. */
  ofOperation(name: string, below: (...args: never[]) => unknown): number {
    const depth = Native.stackTraceLimit;
    const frames = read();
    if (!able) return 0;
    // The first is the operation itself.
    let site = this.locate(frames, 1, frames.length < depth);
    if (site === 0 && frames.length === depth) site = this.search(below, depth * 6);
    if (depth !== this.first + this.frames) this.between.set(name, this.first);
    return site;
  }

  /** The site of whoever called `below`, directly or not; 0 if no user's code did. `depth`: how far to look first. */
  search(below: (...args: never[]) => unknown, depth: number): number {
    prepare(depth);
    captureStackTrace?.(captured, below);
    const frames = read();
    if (!able) return 0;
    const site = this.locate(frames, 0, frames.length < depth);
    return site !== 0 || frames.length < depth ? site : this.search(below, depth * 6);
  }

  /** The same, with more of its callers: for a few of many. */
  sample(below: (...args: never[]) => unknown): number {
    const { frames } = this;
    this.frames = Math.max(frames, SAMPLED_FRAMES);
    try {
      const site = this.search(below, this.sampledDepth);
      // So far again next time: in a training step there is much between the user's code and a kernel.
      this.sampledDepth = Math.max(this.first, SAMPLED_FRAMES) + 2 * SAMPLED_FRAMES;
      return site;
    } finally {
      this.frames = frames;
    }
  }

  /** Numbers of the places whose text this is. */
  withText(text: string): number[] {
    return [...this.texts].filter(([, known]) => known === text).map(([site]) => site);
  }

  /** The texts of all places that were ever seen. */
  places(): string[] {
    return [...new Set(this.texts.values())];
  }

  text(site: number): string {
    return this.texts.get(site) ?? '(site unknown: tracing was off)';
  }

  /** `whole`: there are no more frames than these. Otherwise 0 means that more are needed. */
  private locate(frames: NodeJS.CallSite[], from: number, whole: boolean): number {
    let frame = this.root;
    let first = from;
    let file: string | undefined;
    while (first < frames.length && (file = this.userFile(frames[first])) === undefined) first++;
    let end = first;
    while (file !== undefined) {
      frame = step(frame, file, (frames[end++] as Position).getPosition());
      file = end < first + this.frames ? this.userFile(frames[end]) : undefined;
    }
    this.first = first;
    if (end === first || (end === frames.length && end < first + this.frames && !whole)) return 0;
    if (frame.site === 0) {
      const text = describe(frames.slice(first, end));
      frame.site = this.host.site(text);
      this.texts.set(frame.site, text);
    }
    return frame.site;
  }

  /** The file of a frame of the user's code. */
  private userFile(at: NodeJS.CallSite | undefined): string | undefined {
    const file = at?.getFileName();
    if (file == null) return undefined;
    let user = this.userFiles.get(file);
    if (user === undefined) {
      user = isUserFile(file);
      this.userFiles.set(file, user);
    }
    return user ? file : undefined;
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

/** The engine's own, whatever the program makes of them. */
const Native = Error;
const { captureStackTrace } = Native;

const NO_FRAMES: NodeJS.CallSite[] = [];
const asIs = (_error: Error, frames: NodeJS.CallSite[]): NodeJS.CallSite[] => frames;

/** Used again and again: defining `stack` on a new object costs more. */
const captured: Capture = { stack: NO_FRAMES };
let limitBefore = 0;
let prepareBefore: typeof Error.prepareStackTrace;
/** Whether stacks can be had: a program may have frozen what they are asked for with, and then there are no places. */
let able = true;

/** Before a stack is taken into `captured`; `read` puts back what this changes. */
function prepare(limit: number): void {
  ({ stackTraceLimit: limitBefore, prepareStackTrace: prepareBefore } = Native);
  able = true;
  try {
    Native.prepareStackTrace = asIs;
    Native.stackTraceLimit = limit;
  } catch {
    able = false;
    Reflect.set(Native, 'prepareStackTrace', prepareBefore);
  }
}

function read(): NodeJS.CallSite[] {
  const { stack: frames } = captured;
  captured.stack = NO_FRAMES; // they hold receivers and functions
  if (!able) return NO_FRAMES;
  Native.stackTraceLimit = limitBefore;
  Native.prepareStackTrace = prepareBefore;
  return frames;
}
