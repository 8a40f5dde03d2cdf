// What Ebb needs of the place where it runs.
import type { Tensor } from './engine/tfjs';
import { EbbError } from './errors';
import { VERSION } from './shared';

/** The functions for Ebb's own tensors on one device. Arguments and results of `run` lie in the shared arrays. */
export interface HostRuntime {
  readonly device: number;
  share(
    head: Float64Array,
    inputs: Float64Array,
    views: Float64Array,
    attributes: Float64Array,
    results: Float64Array,
    small: Float64Array,
  ): void;
  run(): void;
  write(dtype: number, shape: readonly number[], values: ArrayBufferView): number;
  /** Values that are in `small`. */
  writeSmall(dtype: number, shape: readonly number[], bytes: number): number;
  /** Another tensor over the same memory. */
  view(handle: number, dtype: number, shape: readonly number[]): number;
  read(handle: number, into: ArrayBufferView): void;
  /** Into `small`. */
  readSmall(handle: number, bytes: number): void;
  readBegin(handle: number): number;
  readPoll(read: number): number;
  readEnd(read: number, into: ArrayBufferView): void;
  readDrop(read: number): void;
}

/**
 * What stands between TensorFlow.js and the core: the only way into it. In Node this is the addon, in a page the core as
 * WebAssembly. README.md says what lies in the shared arrays, and who calls what when.
 */
export interface Host {
  /** LAYOUT, as the host was built with it. */
  readonly layout: number;
  open(
    collect: (kind: number) => void,
    slate: Float64Array,
    queue: Float64Array,
    ended: Uint32Array,
    signals: Uint32Array,
  ): void;

  // Each of these begins with what is in the queue.
  /** Books and watches a tensor of another runtime. */
  watch(tensor: Tensor): void;
  /** The same for one that was born before anybody watched. */
  book(): void;
  /** Watches data of Ebb's own, or one more tensor over it. */
  watchOwn(object: object): void;
  flush(): void;
  rebook(slot: number, device: number, bytes: number): void;

  /** TensorFlow.js is about to end this tensor; its slot follows in the queue. */
  released?(tensor: Tensor): void;

  /** What a slot watches, while it can be reached. */
  object(slot: number): object | undefined;

  // Each of these says how many slots it left in `ended`; a full array means that there are more (`takeEnded`).
  /** `upcoming`: bytes that are about to be made on the device; `scoped`: what is made now will end with a scope. */
  safePoint(device: number, upcoming: number, scoped: boolean): number;
  /** A look from a timer; the slate says when the next is due. */
  idle(): number;
  collect(major: boolean, rationed: boolean): number;
  makeRoom(device: number, bytes: number): number;
  takeEnded(): number;
  takeWarning(): string;

  reclaim(on: boolean): void;
  reclaiming(): boolean;

  /** Opens a device of another runtime with the process's budget, or this one if the user chose none. */
  device(name: string, otherwise: number): number;
  runtime(device: string): HostRuntime;
  /** The budget of Ebb's own memory where the user chose none. */
  limitOwn(device: number, otherwise: number): void;
  setBudget(bytes: number, strict: boolean): void;
  budget(): number;
  /** The least of the open GPUs' budgets; 0 if there is none. */
  gpuBudget(): number;
  trim(bytes: number): number;

  // Pictures, where the host was built with them. `kind`: 0 JPEG, 1 PNG.
  /** Reads the header; JPEGs take the settings. */
  pictureOpen?(
    kind: number,
    contents: Uint8Array,
    channels: number,
    ratio?: number,
    fancyUpscaling?: boolean,
    recoverTruncated?: boolean,
    acceptableFraction?: number,
    fastDct?: boolean,
  ): object;
  /** Height, width, channels. */
  pictureShape?(picture: object): number[];
  /** Fills the array; `later`: on another thread, with a promise. */
  pictureDecode?(picture: object, into: Int32Array, later: boolean): unknown;
  pictureEncode?(
    kind: number,
    samples: Uint8Array,
    height: number,
    width: number,
    channels: number,
    settings: number[],
    xmp: Uint8Array,
  ): Promise<Uint8Array>;

  memoryLimit(): number;
  parseBytes(text: string): number;

  /** The counters of ebb_memory, as COLUMNS names them. */
  memory(everywhere: boolean, device: number): number[];
  audit(): void;
  setTrace(on: boolean): void;
  site(text: string): number;
  report(top: number, json: boolean, everywhere: boolean): string;
  snapshot(path: string): void;

  /** For each device: name, number, budget, in use, committed, at most committed, cached. */
  devices?(): Array<[string, number, number, number, number, number, number]>;

  // Recording, where the host has it. `mode`: an ebb_record_mode.
  recordStart?(mode: number, path: string, name: string, max: number, sampleBytes: number): void;
  recordMode?(mode: number): void;
  recordMark?(text: string): void;
  recordStop?(): void;
  recordHostHeap?(bytes: number): void;
  /** Mode, bytes, events, lost, sample bytes, segments, whether it gave up. */
  recordRead?(): number[];
  /** What holds the tensors of a site, for the recording. */
  recordHolder?(site: number, text: string): void;
  /** Viewers may attach to the recording from now on. */
  liveStart?(): void;
  /** What they wished since the last time: bit N for an ebb_asked N. */
  liveAsked?(): number;

  version(): string;
  tableHash(): number;
}

/** What an isolate has once, however many copies of this package are loaded into it: jest makes one for each file. */
interface Isolate {
  readonly version: string;
  readonly host: Host;
  readonly parts: Map<string, unknown>;
}

const ISOLATE = Symbol.for('ebb-tfjs.isolate');
type Marked = { [ISOLATE]?: Isolate };

let make: (() => Host) | undefined;
let found: Isolate | undefined;

/** Says how the host is made: once it is needed, once for each isolate. */
export function provideHost(how: () => Host): void {
  make ??= how;
}

/** By the global object, for copies with an addon each; by the addon, for copies with a global object each. */
function find(): Isolate {
  const global = globalThis as Marked;
  const host = global[ISOLATE]?.host ?? (make as () => Host)();
  const isolate = ((host as Marked)[ISOLATE] ??= { version: VERSION, host, parts: new Map() });
  if (isolate.version !== VERSION) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] Version ${isolate.version} is at work here already, this is ${VERSION}; install one of them.`,
    );
  }
  return (global[ISOLATE] = isolate);
}

/**
 * The host, as this copy calls it: its errors are of this copy's realm. jest gives each file one of its own, in which an
 * error of the addon's is no `instanceof Error`.
 */
export function host(): Host {
  return (called ??= ofThisRealm((found ??= find()).host));
}

let called: Host | undefined;

type Call = (...given: unknown[]) => unknown;

function ofThisRealm<T extends object>(calls: T): T {
  const own = { ...calls } as Record<string, unknown>;
  for (const [name, call] of Object.entries(own)) {
    if (typeof call !== 'function') continue;
    if (call instanceof Function) return calls;
    own[name] = withOwnErrors(call as Call, name === 'runtime');
  }
  return own as T;
}

function withOwnErrors(call: Call, givesCalls: boolean): Call {
  return (...given) => {
    try {
      const result = call(...given);
      return givesCalls ? ofThisRealm(result as object) : result;
    } catch (error) {
      if (error instanceof Error) throw error;
      const { message, code } = error as { message: string; code?: string };
      throw Object.assign(new Error(message, { cause: error }), { code });
    }
  };
}

/** A part that is there already. */
export function isolatePart<T>(name: string): T | undefined {
  return (found ??= find()).parts.get(name) as T | undefined;
}

/** Something that the copies of this package share. */
export function ofIsolate<T>(name: string, first: () => T): T {
  const { parts } = (found ??= find());
  if (!parts.has(name)) parts.set(name, first());
  return parts.get(name) as T;
}
