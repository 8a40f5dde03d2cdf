// The addon, and the arrays that it shares with JavaScript (see addon/world.hpp).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EbbError } from './errors';
import type { Tensor } from './tfjs';

/** Places on the slate; the addon's own list is compared with this one when it loads. */
export const enum Slate {
  Slot = 0,
  Key = 1,
  Bytes = 2,
  Device = 3,
  Dtype = 4,
  Site = 5,
  Rank = 6,
  Dims = 7,
  Queued = 15,
  Size = 16,
}

export const enum Signal {
  Notices = 0,
  Warnings = 1,
  /** What the last collection cost. */
  CollectUs = 2,
  Count = 3,
}

/** Axes of a tensor that are kept for reports. */
export const REPORTED_AXES = Slate.Queued - Slate.Dims;
/** Axes that a tensor of Ebb's own has at most: EBB_MAX_RANK. */
export const MOST_AXES = 6;

export type Counters = Record<
  | 'created'
  | 'live'
  | 'disposed'
  | 'scoped'
  | 'reclaimed'
  | 'shutdown'
  | 'unwatched'
  | 'orphans'
  | 'peakLive'
  | 'peakOrphans'
  | 'createdBytes'
  | 'liveBytes'
  | 'disposedBytes'
  | 'scopedBytes'
  | 'reclaimedBytes'
  | 'shutdownBytes'
  | 'peakBytes'
  | 'dataBuffers'
  | 'minorCollections'
  | 'majorCollections'
  | 'collectNs'
  | 'collectMaxNs'
  | 'lagLastNs'
  | 'lagMaxNs',
  number
>;

export interface Native {
  layout: Record<string, number>;
  open(
    collect: (kind: number) => void,
    slate: Float64Array,
    queue: Uint32Array,
    ended: Uint32Array,
    signals: Uint32Array,
  ): void;
  watch(tensor: Tensor): void;
  book(): void;
  flush(): void;
  tensor(slot: number): Tensor | undefined;
  rebook(slot: number, device: number, bytes: number): void;
  /** Our notice alone, and a bare one: for the benchmark. */
  attach(object: object): void;
  bareFinalizer(object: object): void;
  reclaim(on: boolean): void;
  reclaiming(): boolean;
  /** Opens a device with the process's budget, or this one if the user chose none. */
  device(name: string, otherwise: number): number;
  setBudget(bytes: number, strict: boolean): void;
  budget(): number;
  /** The least of the open GPUs' budgets; 0 if there is none. */
  gpuBudget(): number;
  trim(bytes: number): number;
  safePoint(device: number, upcoming: number): number;
  collect(major: boolean, rationed: boolean): number;
  makeRoom(device: number, bytes: number): number;
  takeEnded(): number;
  takeWarning(): string;
  memoryLimit(): number;
  parseBytes(text: string): number;
  memory(everywhere: boolean, device: number): Counters;
  audit(): void;
  setTrace(on: boolean): void;
  site(text: string): number;
  report(top: number, json: boolean, everywhere: boolean): string;
  snapshot(path: string): void;
  version(): string;
}

const OLDEST_NODE = 20;

function places(): string[] {
  const root = join(__dirname, '..');
  const chosen = process.env.EBB_ADDON;
  const name = 'ebb_node.node';
  return [...(chosen ? [chosen] : []), join(root, 'prebuilt', name), join(root, 'build', name)];
}

function load(): Native {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] Node ${process.versions.node} is too old; use Node ${OLDEST_NODE} or newer.`,
    );
  }
  const path = places().find(existsSync);
  if (path === undefined) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] The addon is not built (looked for ${places().join(', ')}); run 'npm run build'.`,
    );
  }
  const native = open(path);
  const { layout } = native;
  if (
    layout.dims !== Slate.Dims ||
    layout.queued !== Slate.Queued ||
    layout.size !== Slate.Size ||
    layout.signals !== Signal.Count ||
    layout.axes !== MOST_AXES
  ) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] ${path} is of another version; run 'npm run build'.`,
    );
  }
  return native;
}

function open(path: string): Native {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- the only way to load an addon
    return require(path) as Native;
  } catch (error) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] The addon does not load on ${process.platform}-${process.arch} (${(error as Error).message}); ` +
        `the package has one for linux-x64 with glibc, elsewhere it is built from a clone.`,
      { cause: error },
    );
  }
}

let loaded: Native | undefined;

export function native(): Native {
  return (loaded ??= load());
}
