// Heap snapshots are read in pieces: what lies across two of them is read as well as the rest.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import v8 from 'node:v8';

const require = createRequire(import.meta.url);
const { HeapGraph } = require('../dist/observe/heap_graph.js');
const folder = mkdtempSync(join(tmpdir(), 'ebb-heap-'));
after(() => rmSync(folder, { recursive: true }));

const META = {
  node_fields: ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'],
  node_types: [['object', 'closure', 'synthetic']],
  edge_fields: ['type', 'name_or_index', 'to_node'],
  edge_types: [['property', 'element', 'weak']],
};
const WIDTH = META.node_fields.length;
const EDGES = 2; // of each node

/** As V8 writes it, a row a line. */
function made(count) {
  const rows = (all) => all.join('\n,');
  const nodes = [];
  const edges = [];
  for (let i = 0; i < count; i++) {
    nodes.push([i % 3, i % 5, 2 * i + 1, (i * 7919) % 4294967296, EDGES, 0, 0].join());
    for (let e = 1; e <= EDGES; e++)
      edges.push([e % 3, i % 5, ((i * 31 + e) % count) * WIDTH].join());
  }
  const head = {
    meta: META,
    node_count: count,
    edge_count: count * EDGES,
    trace_function_count: 0,
  };
  return (
    `{"snapshot":${JSON.stringify(head)},\n"nodes":[${rows(nodes)}\n],\n"edges":[${rows(edges)}\n],\n` +
    `"trace_function_infos":[],\n"trace_tree":[],\n"samples":[],\n"locations":[0,1,2,3\n],\n` +
    `"strings":["<dummy>",\n"a \\"quoted\\" one",\n"\\u00e9",\n"]",\n"last"]}`
  );
}

function graphOf(text) {
  const path = join(folder, 'made.heapsnapshot');
  writeFileSync(path, text);
  return new HeapGraph(path);
}

test('a snapshot of many pieces', () => {
  const count = 300_000; // some 19 MB
  const graph = graphOf(made(count));
  assert.equal(graph.count, count);
  for (let i = 0; i < count; i++) {
    assert.equal(graph.first[i + 1], EDGES * (i + 1));
    for (let e = 1; e <= EDGES; e++)
      assert.equal(graph.to[EDGES * i + e - 1], (i * 31 + e) % count);
  }
  const names = ['<dummy>', 'a "quoted" one', '\u00e9', ']', 'last'];
  for (let i = count - 20; i < count; i++) {
    assert.equal(graph.name(i), names[i % 5]);
    assert.equal(graph.type(i), META.node_types[0][i % 3]);
    assert.equal(graph.edgeType(EDGES * i), 'element');
  }
  assert.equal(graph.named('last', 'synthetic').length, count / 15);
  assert.deepEqual(graph.named('las', 'synthetic'), []);
});

test("V8's own has its global object", () => {
  const path = v8.writeHeapSnapshot(join(folder, 'own.heapsnapshot'));
  const graph = new HeapGraph(path);
  assert.ok(graph.count > 1000);
  assert.equal(graph.named('(GC roots)', 'synthetic').length, 1);
});

test('one that is cut short is refused, wherever', () => {
  const count = 12;
  const text = made(count);
  for (let length = 0; length < text.length - 60; length++)
    assert.throws(() => graphOf(text.slice(0, length)), Error, String(length));
  assert.throws(() => graphOf(text.replace('"edges":', '"other":')), /no edges/);
  assert.throws(() => graphOf(text.replace('to_node', 'elsewhere')), /no field to_node/);
  assert.throws(
    () => graphOf(text.replace(`"edge_count":${count * EDGES}`, '"edge_count":1')),
    /contradicts/,
  );
  assert.equal(graphOf(text).count, count);
});
