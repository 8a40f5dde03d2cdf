// The figures that monitoring gets, once for all who ask: OpenMetrics and OpenTelemetry. They are the books of the whole
// process. Places are never labels: there is no bound to them.
import { host } from '../host';
import { COLUMNS, VERSION } from '../shared';

export type Column = (typeof COLUMNS)[number];
export type Labels = Readonly<Record<string, string>>;
/** A value, with the labels that tell it from others of its figure. */
export type Sample = readonly [number, Labels];

export interface Figure {
  /** As Prometheus has it; counters get `_total`. */
  name: string;
  /** As OpenTelemetry has it. */
  otel: string;
  kind: 'gauge' | 'counter';
  unit?: 'bytes' | 'seconds';
  help: string;
  samples(books: Books): Sample[];
}

interface Device {
  name: string;
  budget: number;
  inUse: number;
  committed: number;
  mostCommitted: number;
  cached: number;
}

export interface Books {
  counters: Record<Column, number>;
  devices: Device[];
}

export function readBooks(): Books {
  const values = host().memory(true, 0);
  const counters = Object.fromEntries(COLUMNS.map((name, i) => [name, values[i] ?? 0]));
  const devices = (host().devices?.() ?? []).map(
    ([name, , budget, inUse, committed, mostCommitted, cached]) => ({
      name,
      budget,
      inUse,
      committed,
      mostCommitted,
      cached,
    }),
  );
  return { counters: counters as Record<Column, number>, devices };
}

const NS = 1e-9;
const one = (value: number): Sample[] => [[value, {}]];
const column =
  (name: Column, factor = 1) =>
  ({ counters }: Books): Sample[] =>
    one(counters[name] * factor);
const byLabel =
  (label: string, columns: ReadonlyArray<readonly [string, Column]>) =>
  ({ counters }: Books): Sample[] =>
    columns.map(([value, name]): Sample => [counters[name], { [label]: value }]);
const ofDevices =
  (read: (device: Device) => number) =>
  ({ devices }: Books): Sample[] =>
    devices.map((device): Sample => [read(device), { device: device.name }]);

export const FIGURES: readonly Figure[] = [
  {
    name: 'ebb_device_memory_bytes',
    otel: 'ebb.device.memory.usage',
    kind: 'gauge',
    unit: 'bytes',
    help: 'Memory that a device has: of live tensors, and kept for reuse.',
    samples: ({ devices }) =>
      devices.flatMap((device): Sample[] => [
        [device.inUse, { device: device.name, state: 'in_use' }],
        [device.cached, { device: device.name, state: 'cached' }],
      ]),
  },
  {
    name: 'ebb_device_committed_bytes',
    otel: 'ebb.device.memory.committed',
    kind: 'gauge',
    unit: 'bytes',
    help: 'Memory that a device has taken from the system.',
    samples: ofDevices((device) => device.committed),
  },
  {
    name: 'ebb_device_committed_peak_bytes',
    otel: 'ebb.device.memory.committed.peak',
    kind: 'gauge',
    unit: 'bytes',
    help: 'The most that it ever had.',
    samples: ofDevices((device) => device.mostCommitted),
  },
  {
    name: 'ebb_device_budget_bytes',
    otel: 'ebb.device.memory.limit',
    kind: 'gauge',
    unit: 'bytes',
    help: 'What tensors on a device may hold; 0: no limit.',
    samples: ofDevices((device) => device.budget),
  },
  {
    name: 'ebb_tensors_created',
    otel: 'ebb.tensors.created',
    kind: 'counter',
    help: 'Tensors that were made.',
    samples: column('created'),
  },
  {
    name: 'ebb_tensors_ended',
    otel: 'ebb.tensors.ended',
    kind: 'counter',
    help: 'Tensors that ended: by hand, with a tidy, given back, with their thread.',
    samples: byLabel('reason', [
      ['disposed', 'disposed'],
      ['region', 'regionEnded'],
      ['reclaimed', 'reclaimed'],
      ['shutdown', 'shutdown'],
    ]),
  },
  {
    name: 'ebb_tensors_live',
    otel: 'ebb.tensors.live',
    kind: 'gauge',
    help: 'Tensors that are there.',
    samples: column('live'),
  },
  {
    name: 'ebb_tensors_live_peak',
    otel: 'ebb.tensors.live.peak',
    kind: 'gauge',
    help: 'The most that there were at once.',
    samples: column('peakLive'),
  },
  {
    name: 'ebb_tensors_unwatched',
    otel: 'ebb.tensors.unwatched',
    kind: 'gauge',
    help: 'Tensors that were there before Ebb, which are not given back.',
    samples: column('unwatched'),
  },
  {
    name: 'ebb_tensors_orphaned',
    otel: 'ebb.tensors.orphaned',
    kind: 'gauge',
    help: 'Tensors that nobody can reach and that are about to be given back.',
    samples: column('orphans'),
  },
  {
    name: 'ebb_tensors_orphaned_peak',
    otel: 'ebb.tensors.orphaned.peak',
    kind: 'gauge',
    help: 'The most of them at once.',
    samples: column('peakOrphans'),
  },
  {
    name: 'ebb_tensors_created_bytes',
    otel: 'ebb.tensors.created.size',
    kind: 'counter',
    unit: 'bytes',
    help: 'Bytes of the data that was made.',
    samples: column('createdBytes'),
  },
  {
    name: 'ebb_tensors_ended_bytes',
    otel: 'ebb.tensors.ended.size',
    kind: 'counter',
    unit: 'bytes',
    help: 'Bytes of the data that ended.',
    samples: byLabel('reason', [
      ['disposed', 'disposedBytes'],
      ['region', 'regionEndedBytes'],
      ['reclaimed', 'reclaimedBytes'],
      ['shutdown', 'shutdownBytes'],
    ]),
  },
  {
    name: 'ebb_tensors_live_bytes',
    otel: 'ebb.tensors.live.size',
    kind: 'gauge',
    unit: 'bytes',
    help: 'Bytes of the data that is there.',
    samples: column('liveBytes'),
  },
  {
    name: 'ebb_tensors_live_peak_bytes',
    otel: 'ebb.tensors.live.peak.size',
    kind: 'gauge',
    unit: 'bytes',
    help: 'The most that there was at once.',
    samples: column('peakLiveBytes'),
  },
  {
    name: 'ebb_storages',
    otel: 'ebb.storages',
    kind: 'gauge',
    help: 'Pieces of data: of tensors, and held by reads under way.',
    samples: byLabel('state', [
      ['live', 'storages'],
      ['held', 'held'],
    ]),
  },
  {
    name: 'ebb_storages_held_bytes',
    otel: 'ebb.storages.held.size',
    kind: 'gauge',
    unit: 'bytes',
    help: 'Bytes that only reads under way hold.',
    samples: column('heldBytes'),
  },
  {
    name: 'ebb_regions_open',
    otel: 'ebb.regions.open',
    kind: 'gauge',
    help: 'Regions of the core that are open.',
    samples: column('regions'),
  },
  {
    name: 'ebb_collections',
    otel: 'ebb.collections',
    kind: 'counter',
    help: "Collections of the host's that Ebb asked for.",
    samples: byLabel('kind', [
      ['minor', 'collectionsMinor'],
      ['major', 'collectionsMajor'],
    ]),
  },
  {
    name: 'ebb_collection_seconds',
    otel: 'ebb.collection.time',
    kind: 'counter',
    unit: 'seconds',
    help: 'What they took.',
    samples: column('collectNs', NS),
  },
  {
    name: 'ebb_collection_longest_seconds',
    otel: 'ebb.collection.longest',
    kind: 'gauge',
    unit: 'seconds',
    help: 'What the longest of them took.',
    samples: column('collectMaxNs', NS),
  },
  {
    name: 'ebb_reclaim_lag_seconds',
    otel: 'ebb.reclaim.lag',
    kind: 'gauge',
    unit: 'seconds',
    help: 'How long the oldest of the dead waited to be given back, the last time.',
    samples: column('lagLastNs', NS),
  },
  {
    name: 'ebb_reclaim_lag_longest_seconds',
    otel: 'ebb.reclaim.lag.longest',
    kind: 'gauge',
    unit: 'seconds',
    help: 'The longest that one waited.',
    samples: column('lagMaxNs', NS),
  },
];

/** What runs: for the labels of `ebb_info`. */
export const INFO: Labels = { version: VERSION, host: 'node' };
