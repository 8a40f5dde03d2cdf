// The host in a page: the core as WebAssembly, deaths seen by sentinels and finalizers, collections by pressure.
import type { Tensor } from '../engine/tfjs';
import { EbbError } from '../errors';
import type { Host } from '../host';
import { LAYOUT, Signal, Slate } from '../shared';
import { Core } from './core';
import { Pressure } from './pressure';
import { Sentinels } from './sentinels';

/** Where the browser does not say what the machine has. */
const UNKNOWN_MEMORY = 2 * 2 ** 30;

/** What only a page's host can tell. */
export interface PageHost extends Host {
  readonly sentinels: Sentinels;
  readonly pressure: Pressure;
}

function unsupported(what: string): never {
  throw new EbbError('EBB_UNSUPPORTED', `[ebb-tfjs] A page has no ${what}.`);
}

/** Memory of the machine as the browser rounds it, at most 8 GB. */
function memoryLimit(): number {
  const { navigator } = globalThis as { navigator?: { deviceMemory?: number } };
  const deviceMemory = navigator?.deviceMemory;
  return deviceMemory === undefined ? UNKNOWN_MEMORY : deviceMemory * 2 ** 30;
}

/** What `open` is given. */
interface Shared {
  collect: (kind: number) => void;
  slate: Float64Array;
  queue: Float64Array;
  ended: Uint32Array;
  signals: Uint32Array;
}

export function makeHost(): PageHost {
  let shared: Shared | undefined;
  let warning = '';
  const warn = (message: string): void => {
    warning += (warning === '' ? '' : '\n') + message;
    if (shared !== undefined) (shared.signals[Signal.Warnings] as number)++;
  };
  const core = new Core({ collect: (kind) => collect(kind), warn });
  const { calls } = core;
  const sentinels = new Sentinels((slot) => {
    calls.orphan(slot);
    if (shared !== undefined) (shared.signals[Signal.Notices] as number)++;
  });
  const pressure = new Pressure(sentinels, warn);
  core.check(calls.open());

  /** The core asks; what it costs is what the page's clock says. */
  function collect(kind: number): number {
    const before = pressure.reading.worked;
    const start = performance.now();
    (shared as Shared).collect(kind);
    return pressure.reading.worked === before ? -1 : (performance.now() - start) * 1e6;
  }

  function flush(): void {
    if (shared === undefined) return;
    const { slate, queue } = shared;
    const count = slate[Slate.Queued] as number;
    if (count === 0) return;
    slate[Slate.Queued] = 0;
    for (let i = 0; i < count; i++) sentinels.forget((-1 - (queue[i] as number)) >> 1);
    core.writeNumbers(queue, 0, count);
    calls.flush(count);
  }

  function adopt(watched: number): number {
    flush();
    const { slate } = shared as Shared;
    const slot = slate[Slate.Slot] as number;
    const rank = slate[Slate.Rank] as number;
    core.writeNumbers(slate, Slate.Dims, rank);
    const result = calls.adopt(
      slot,
      slate[Slate.Key] as number,
      slate[Slate.Bytes] as number,
      slate[Slate.Device] as number,
      slate[Slate.Dtype] as number,
      slate[Slate.Site] as number,
      rank,
      watched,
    );
    if (result < 0) core.fail();
    return slot;
  }

  /** Slots that the core has ended: their tensors are gone, or will be at once. */
  function given(count: number): number {
    core.check(count);
    if (count === 0) return 0;
    const { ended } = shared as Shared;
    core.copyEnded(ended, count);
    for (let i = 0; i < count; i++) sentinels.forget(ended[i] as number);
    return count;
  }

  /** Collections within `call` ask the youngest as well, or not. */
  function asking(all: boolean, call: () => number): number {
    pressure.askAll = all;
    try {
      return call();
    } finally {
      pressure.askAll = false;
    }
  }

  return {
    sentinels,
    pressure,
    layout: LAYOUT,
    open: (collectHost, slate, queue, ended, signals) => {
      shared = { collect: collectHost, slate, queue, ended, signals };
    },
    released: (tensor: Tensor) => sentinels.release(tensor),
    watch: (tensor: Tensor) => sentinels.watch(adopt(1), tensor),
    book: () => void adopt(0),
    watchOwn: () => unsupported('backend of Ebb’s own'),
    flush,
    rebook: (slot, device, bytes) => {
      flush();
      core.check(calls.rebook(slot, device, bytes));
    },
    object: (slot) => sentinels.object(slot),
    safePoint: (device, upcoming, scoped) => {
      flush();
      return given(calls.safe_point(device, upcoming, scoped ? 1 : 0));
    },
    idle: () => {
      flush();
      // In a job of its own nothing is in use for being young.
      const count = given(asking(true, () => calls.idle()));
      (shared as Shared).slate[Slate.AgainMs] = calls.again_ms();
      return count;
    },
    collect: (major, rationed) => {
      flush();
      return given(asking(!rationed, () => calls.collect(major ? 1 : 0, rationed ? 1 : 0)));
    },
    makeRoom: (device, bytes) => {
      flush();
      return given(calls.make_room(device, bytes));
    },
    takeEnded: () => given(calls.take_ended()),
    takeWarning: () => {
      const text = warning;
      warning = '';
      (shared as Shared).signals[Signal.Warnings] = 0;
      return text;
    },
    reclaim: (on) => calls.reclaim(on ? 1 : 0),
    reclaiming: () => calls.reclaiming() !== 0,
    device: (name, otherwise) => {
      core.write(name);
      return calls.device(otherwise) || core.fail();
    },
    runtime: () => unsupported('backend of Ebb’s own'),
    limitOwn: () => {},
    setBudget: (bytes, strict) => void core.check(calls.set_budget(bytes, strict ? 1 : 0)),
    budget: () => calls.budget(),
    gpuBudget: () => 0,
    trim: () => 0,
    memoryLimit,
    parseBytes: (text) => {
      core.write(text);
      return core.check(calls.parse_bytes());
    },
    memory: (_everywhere, device) => {
      flush();
      const count = core.check(calls.read_memory(device));
      return [...core.numbers().subarray(0, count)];
    },
    audit: () => {
      flush();
      core.check(calls.audit());
    },
    setTrace: (on) => calls.trace(on ? 1 : 0),
    site: (text) => {
      core.write(text);
      return calls.site() || core.fail();
    },
    report: (top, json) => {
      flush();
      return core.read(calls.report(top, json ? 1 : 0) || core.fail());
    },
    snapshot: () => unsupported('files'),
    version: () => core.read(calls.version()),
    tableHash: () => 0,
  };
}
