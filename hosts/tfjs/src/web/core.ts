// The core as WebAssembly: loading it, and the functions of the system that it imports. web/core/core.cc is the other
// side of every call here.
import { badArgument, EbbError } from '../errors';
import { LAYOUT } from '../shared';

/** The part of WebAssembly that is used; the types that come with TypeScript want a whole page. */
interface WasmModule {
  readonly module?: unknown;
}
interface WasmInstance {
  readonly exports: Record<string, unknown>;
}
declare const WebAssembly: {
  readonly Module: {
    new (bytes: ArrayBuffer | ArrayBufferView): WasmModule;
    imports(module: WasmModule): Array<{ module: string; name: string }>;
    exports(module: WasmModule): Array<{ name: string }>;
  };
  readonly Instance: new (module: WasmModule, imports: object) => WasmInstance;
  compile(bytes: ArrayBuffer | ArrayBufferView): Promise<WasmModule>;
};

/** What `core.cc` exports. Addresses are numbers. */
export interface CoreCalls {
  readonly memory: { readonly buffer: ArrayBuffer };
  layout(): number;
  numbers(): number;
  ended(): number;
  status(): number;
  error(): number;
  version(): number;
  text(bytes: number): number;
  open(): number;
  adopt(
    slot: number,
    key: number,
    bytes: number,
    device: number,
    dtype: number,
    site: number,
    rank: number,
    watched: number,
  ): number;
  rebook(slot: number, device: number, bytes: number): number;
  flush(count: number): void;
  orphan(slot: number): void;
  reclaim(on: number): void;
  reclaiming(): number;
  safe_point(device: number, upcoming: number, scoped: number): number;
  idle(): number;
  again_ms(): number;
  collect(major: number, rationed: number): number;
  make_room(device: number, bytes: number): number;
  take_ended(): number;
  device(otherwise: number): number;
  set_budget(bytes: number, strict: number): number;
  budget(): number;
  parse_bytes(): number;
  read_memory(device: number): number;
  audit(): number;
  trace(on: number): void;
  site(): number;
  report(top: number, json: number): number;
}

/** What the core calls: the page's collector, and a warning for people. */
export interface CoreImports {
  /** Nanoseconds; below 0: nothing was collected. */
  collect(kind: number): number;
  warn(message: string): void;
}

const CODES = [
  'EBB_OK',
  'EBB_INVALID_ARGUMENT',
  'EBB_STALE_HANDLE',
  'EBB_WRONG_STATE',
  'EBB_OUT_OF_MEMORY',
  'EBB_UNSUPPORTED',
  'EBB_DEVICE_ERROR',
  'EBB_INTERNAL',
];

/** What may be given to `load`: where the module is, or what is in it. */
export type CoreSource = string | URL | ArrayBuffer | ArrayBufferView | object;

let compiled: WasmModule | undefined;

const SOURCES = 'a URL, the bytes of ebb_core.wasm, or a WebAssembly.Module of them';

async function fetched(url: string | URL): Promise<ArrayBuffer> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new EbbError('EBB_UNSUPPORTED', `[load] ${String(url)} cannot be fetched.`, { cause });
  }
  if (!response.ok) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[load] ${String(url)} cannot be fetched: ${response.status}; ebb_core.wasm lies beside this package's web/index.mjs.`,
    );
  }
  return response.arrayBuffer();
}

/** A module of whichever realm. */
function isModule(source: unknown): source is WasmModule {
  return Object.prototype.toString.call(source) === '[object WebAssembly.Module]';
}

/** Bytes that are no module, or a page whose policy does not let any be compiled. */
async function compileBytes(bytes: ArrayBuffer | ArrayBufferView): Promise<WasmModule> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[load] The core cannot be compiled: ${(cause as Error).message}`,
      { cause },
    );
  }
}

async function compile(source: CoreSource): Promise<WasmModule> {
  let module: unknown = source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
    module = await compileBytes(source);
  else if (typeof source === 'string' || source instanceof URL)
    module = await compileBytes(await fetched(source));
  if (!isModule(module)) throw badArgument('load', source, SOURCES);
  if (!WebAssembly.Module.exports(module).some(({ name }) => name === 'layout'))
    throw badArgument('load', 'another module', SOURCES);
  return module;
}

/** Fetches and compiles the core; once is enough. */
export async function loadCore(source: CoreSource): Promise<void> {
  const module = await compile(source);
  compiled ??= module;
}

/** What was loaded is of no use: another may be. */
export function unloadCore(): void {
  compiled = undefined;
}

export function isLoaded(): boolean {
  return compiled !== undefined;
}

/** An instance of the core, with its memory as arrays. */
export class Core {
  readonly calls: CoreCalls;
  private floats = new Float64Array();
  private words = new Uint32Array();
  private bytes = new Uint8Array();
  private readonly numbersAt: number;
  private readonly endedAt: number;

  constructor(imports: CoreImports) {
    if (compiled === undefined) {
      throw new EbbError(
        'EBB_WRONG_STATE',
        "[ebb-tfjs] The core is not there; 'await load()' first.",
      );
    }
    const instance = new WebAssembly.Instance(compiled, this.imports(compiled, imports));
    this.calls = instance.exports as unknown as CoreCalls;
    (instance.exports._initialize as (() => void) | undefined)?.();
    if (this.calls.layout() !== LAYOUT)
      throw new EbbError('EBB_UNSUPPORTED', '[load] ebb_core.wasm is of another version.');
    this.numbersAt = this.calls.numbers() / 8;
    this.endedAt = this.calls.ended() / 4;
  }

  /** Counters: good until the next call, which may move the memory. */
  numbers(): Float64Array {
    this.look();
    return this.floats.subarray(this.numbersAt);
  }

  /** Numbers for the next call; few, so that a loop is faster than a view of the memory. */
  writeNumbers(from: Float64Array, start: number, count: number): void {
    this.look();
    const { floats, numbersAt } = this;
    for (let i = 0; i < count; i++) floats[numbersAt + i] = from[start + i] as number;
  }

  copyEnded(into: Uint32Array, count: number): void {
    this.look();
    into.set(this.words.subarray(this.endedAt, this.endedAt + count));
  }

  write(text: string): void {
    const encoded = new TextEncoder().encode(text);
    const at = this.calls.text(encoded.length);
    this.look();
    this.bytes.set(encoded, at);
  }

  read(at: number): string {
    this.look();
    return new TextDecoder().decode(this.bytes.subarray(at, this.bytes.indexOf(0, at)));
  }

  /** Throws what the core says of the call that failed. */
  fail(): never {
    const code = CODES[this.calls.status()] ?? 'EBB_INTERNAL';
    throw new EbbError(code, this.read(this.calls.error()));
  }

  check(result: number): number {
    return result < 0 ? this.fail() : result;
  }

  /** The core's memory may have grown, and its arrays with it. */
  private look(): void {
    const { buffer } = this.calls.memory;
    if (this.bytes.buffer === buffer) return;
    this.floats = new Float64Array(buffer);
    this.words = new Uint32Array(buffer);
    this.bytes = new Uint8Array(buffer);
  }

  /** The core has a clock; what else a system may be asked for is not there. */
  private imports(module: WasmModule, { collect, warn }: CoreImports): object {
    const known: Record<string, unknown> = {
      collect,
      warn: (at: number) => warn(this.read(at)),
      clock_time_get: (_clock: number, _precision: bigint, at: number) => {
        const now = BigInt(Math.round(performance.now() * 1e6));
        new DataView(this.calls.memory.buffer).setBigUint64(at, now, true);
        return 0;
      },
      emscripten_notify_memory_growth: () => {},
      proc_exit: (code: number) => {
        throw new EbbError('EBB_INTERNAL', `[ebb-tfjs] The core stopped with ${code}.`);
      },
    };
    const imports: Record<string, Record<string, unknown>> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module))
      (imports[from] ??= {})[name] = known[name] ?? (() => NOT_THERE);
    return imports;
  }
}

/** WASI's ENOSYS. */
const NOT_THERE = 52;
