// Where tensors are made, in the place of src/books/sites.ts: browsers give stacks as text, each in its own way.
import type { Host } from '../host';

/** The frames of this package and of TensorFlow.js, by their files. */
const LIBRARY = /[\\/](tfjs(-[\w-]+)?|ebb-tfjs)([\\/@.]|\.min)|@tensorflow[\\/]|node_modules[\\/]/;

/** "at f (http://x/a.js:1:2)" in V8, "f@http://x/a.js:1:2" elsewhere. */
const FRAME = /^\s*(?:at (?:async )?(?:(.*?) \()?|(.*?)@)(.*?):(\d+):\d+\)?$/;

const OWN = ownFile();

interface Frame {
  name: string;
  file: string;
  line: string;
}

function parse(stack: string): Frame[] {
  const frames: Frame[] = [];
  for (const line of stack.split('\n')) {
    const found = FRAME.exec(line);
    if (found === null) continue;
    frames.push({
      name: found[1] ?? found[2] ?? '',
      file: found[3] as string,
      line: found[4] as string,
    });
  }
  return frames;
}

function ownFile(): string {
  return parse(String(new Error().stack))[0]?.file ?? '';
}

/** Files of TensorFlow.js that its paths do not tell: who calls the engine's hooks is one of them. */
const learned = new Set<string>();

function learn(frames: Frame[]): void {
  const caller = frames.find(({ file }) => file !== OWN);
  if (caller !== undefined) learned.add(caller.file);
}

function isUsers({ file }: Frame): boolean {
  return file !== OWN && !learned.has(file) && !LIBRARY.test(file) && file !== 'native code';
}

const FRAMES_LOOKED_AT = 50;

export class Sites {
  on = false;
  /** Frames of the user's code that make a site. */
  frames = 1;
  private readonly texts = new Map<number, string>();
  private readonly byText = new Map<string, number>();

  constructor(private readonly host: Host) {}

  beforeOperation(): object {
    return {};
  }

  ofOperation(): number {
    return this.here();
  }

  search(): number {
    return this.here();
  }

  text(site: number): string {
    return this.texts.get(site) ?? '(site unknown: tracing was off)';
  }

  /** The site of whoever called TensorFlow.js; 0 if no user's code did. */
  private here(): number {
    const errors = Error as { stackTraceLimit?: number };
    const before = errors.stackTraceLimit;
    errors.stackTraceLimit = FRAMES_LOOKED_AT;
    const stack = String(new Error().stack);
    errors.stackTraceLimit = before;
    const frames = parse(stack);
    learn(frames);
    let users = frames.filter(isUsers).slice(0, this.frames);
    // A bundler has put everything into one file: the outermost frames are the user's, for sure.
    if (users.length === 0) users = frames.slice(-this.frames);
    if (users.length === 0) return 0;
    const text = users
      .map(({ name, file, line }) => (name ? `${name} (${file}:${line})` : `${file}:${line}`))
      .join('\n');
    let site = this.byText.get(text);
    if (site === undefined) {
      site = this.host.site(text);
      this.byText.set(text, site);
      this.texts.set(site, text);
    }
    return site;
  }
}
