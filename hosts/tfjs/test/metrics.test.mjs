// Metrics: the books as others read them, by their own parsers.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { collected, ebb, require, tf, use } from './support.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'ebb-metrics-'));
after(() => rmSync(folder, { recursive: true }));

const PARSE = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = text_string_to_metric_families(sys.stdin.read())
print(json.dumps([[f.name, f.type, f.unit, [[s.name, s.labels, s.value] for s in f.samples]] for f in families]))`;

const has = (program, ...words) => spawnSync(program, words).status === 0;
const python = ['/usr/bin/python3', 'python3'].find((name) =>
  has(name, '-c', 'import prometheus_client'),
);
const noParser = python === undefined && 'python3-prometheus-client is not installed';
const noPromtool = !has('promtool', '--version') && 'prometheus is not installed';

function parsed(text) {
  const { stdout, stderr, status } = spawnSync(python, ['-c', PARSE], {
    input: text,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return new Map(JSON.parse(stdout).map(([name, ...rest]) => [name, rest]));
}

before(async () => {
  await use('wasm');
  ebb.reclaim.on();
  await collected();
});

test('every column of the books is there, and says what memory() says', { skip: noParser }, () => {
  const held = [tf.zeros([1000]), tf.zeros([10])];
  tf.tidy(() => tf.zeros([5]).add(1).dataSync());
  tf.zeros([7]).dispose();
  const families = parsed(ebb.metrics());
  const books = ebb.memory({ everywhere: true });
  const value = (name, labels = {}) => {
    const [, , samples] = families.get(name.replace(/_total$/, '')) ?? [];
    assert.ok(samples, `${name} is not there`);
    const found = samples.find(
      ([sample, given]) =>
        sample === name && Object.entries(labels).every(([label, is]) => given[label] === is),
    );
    assert.ok(found, `${name} ${JSON.stringify(labels)}`);
    return found[2];
  };
  for (const [name, labels, expected] of [
    ['ebb_tensors_created_total', {}, books.created],
    ['ebb_tensors_live', {}, books.live],
    ['ebb_tensors_live_bytes', {}, books.liveBytes],
    ['ebb_tensors_live_peak', {}, books.peakLive],
    ['ebb_tensors_live_peak_bytes', {}, books.peakLiveBytes],
    ['ebb_tensors_created_bytes_total', {}, books.createdBytes],
    ['ebb_tensors_ended_total', { reason: 'disposed' }, books.disposed],
    ['ebb_tensors_ended_total', { reason: 'region' }, books.regionEnded],
    ['ebb_tensors_ended_total', { reason: 'reclaimed' }, books.reclaimed],
    ['ebb_tensors_ended_total', { reason: 'shutdown' }, books.shutdown],
    ['ebb_tensors_ended_bytes_total', { reason: 'disposed' }, books.disposedBytes],
    ['ebb_tensors_ended_bytes_total', { reason: 'region' }, books.regionEndedBytes],
    ['ebb_tensors_ended_bytes_total', { reason: 'reclaimed' }, books.reclaimedBytes],
    ['ebb_tensors_ended_bytes_total', { reason: 'shutdown' }, books.shutdownBytes],
    ['ebb_tensors_unwatched', {}, books.unwatched],
    ['ebb_tensors_orphaned', {}, books.orphans],
    ['ebb_tensors_orphaned_peak', {}, books.peakOrphans],
    ['ebb_storages', { state: 'live' }, books.storages],
    ['ebb_storages', { state: 'held' }, books.held],
    ['ebb_storages_held_bytes', {}, books.heldBytes],
    ['ebb_regions_open', {}, books.regions],
    ['ebb_collections_total', { kind: 'minor' }, books.collections.minor],
    ['ebb_collections_total', { kind: 'major' }, books.collections.major],
  ])
    assert.equal(value(name, labels), expected, `${name} ${JSON.stringify(labels)}`);
  const near = (name, expected) => assert.ok(Math.abs(value(name) - expected / 1e3) < 1e-9, name);
  near('ebb_collection_seconds_total', books.collections.totalMs);
  near('ebb_collection_longest_seconds', books.collections.longestMs);
  near('ebb_reclaim_lag_seconds', books.lag.lastMs);
  near('ebb_reclaim_lag_longest_seconds', books.lag.longestMs);
  const device = { device: 'tfjs:wasm' };
  assert.equal(value('ebb_device_memory_bytes', { ...device, state: 'in_use' }), books.liveBytes);
  assert.equal(value('ebb_device_committed_bytes', device), books.liveBytes);
  assert.equal(value('ebb_device_budget_bytes', device), ebb.budget());
  assert.equal(families.get('ebb')[0], 'info');
  assert.equal(families.get('ebb_tensors_live_bytes')[1], 'bytes');
  tf.dispose(held);
});

test('what stands in labels is escaped', { skip: noParser }, async () => {
  const name = 'a"b\\c\nd';
  tf.registerBackend(name, () => new (require('@tensorflow/tfjs-backend-cpu').MathBackendCPU)());
  await tf.setBackend(name);
  tf.tensor1d([3]).dispose();
  const [, , samples] = parsed(ebb.metrics()).get('ebb_device_memory_bytes');
  assert.ok(samples.some(([, { device }]) => device === `tfjs:${name}`));
  await use('wasm');
  tf.removeBackend(name);
});

/** A scrape as series of promtool's: the same values at each of 20 minutes, counters rising. */
function series(text) {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
      const full = `${name}{${[labels, 'instance="a:1"'].filter(Boolean).join(',')}}`;
      return { series: full, values: `${value}+${name.endsWith('_total') ? 60 : 0}x20` };
    });
}

test("the dashboard's queries find what a server says", { skip: noPromtool }, async () => {
  const env = { ...process.env, PORT: '0', NODE_TEST_CONTEXT: undefined };
  const server = spawn(process.execPath, [join(root, 'examples', 'metrics.cjs')], { env });
  try {
    const [port] = await once(server.stdout, 'data');
    const url = `http://127.0.0.1:${String(port).trim()}`;
    for (let i = 0; i < 3; i++) await (await fetch(`${url}/predict`)).text();
    const response = await fetch(`${url}/metrics`);
    assert.equal(response.headers.get('content-type'), ebb.METRICS_TYPE);
    const input = series(await response.text());
    const dashboard = JSON.parse(
      readFileSync(join(root, '..', '..', 'docs', 'grafana', 'ebb.json'), 'utf8'),
    );
    const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    assert.ok(queries.length >= 8);
    // Each is asked whether it finds nothing: promtool then says nil for those that find something.
    const expressions = queries.map((query) => query.replaceAll('$instance', '.*'));
    const tests = expressions.map((expr) => ({
      expr: `count(${expr}) > bool 0`,
      eval_time: '20m',
      exp_samples: [{ labels: '{}', value: 1 }],
    }));
    const file = join(folder, 'queries.yml');
    writeFileSync(
      file,
      JSON.stringify({ tests: [{ interval: '1m', input_series: input, promql_expr_test: tests }] }),
    );
    const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
  } finally {
    server.kill();
  }
});

test('OpenTelemetry gets the same figures', async () => {
  const {
    AggregationTemporality,
    InMemoryMetricExporter,
    MeterProvider,
    PeriodicExportingMetricReader,
  } = require('@opentelemetry/sdk-metrics');
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e6 });
  const provider = new MeterProvider({ readers: [reader] });
  const stop = ebb.openTelemetry(provider.getMeter('test'));
  const held = tf.zeros([1000]);
  const read = async () => {
    exporter.reset();
    await reader.forceFlush();
    const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    const all = scopes.flatMap(({ metrics }) => metrics);
    return new Map(all.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints]));
  };
  const found = await read();
  const { created, liveBytes } = ebb.memory({ everywhere: true });
  assert.equal(found.get('ebb.tensors.created')[0].value, created);
  const usage = found
    .get('ebb.device.memory.usage')
    .find(({ attributes }) => attributes.device === 'tfjs:wasm' && attributes.state === 'in_use');
  assert.equal(usage.value, liveBytes);
  stop();
  held.dispose();
  tf.zeros([1]).dispose();
  const later = (await read()).get('ebb.tensors.created')?.[0];
  assert.ok(later === undefined || later.value === created, 'it was told to stop');
  await provider.shutdown();
  assert.throws(() => ebb.openTelemetry({}), { code: 'EBB_INVALID_ARGUMENT', message: /allowed/ });
});
