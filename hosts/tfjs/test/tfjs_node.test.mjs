// The real tfjs-node, which no registry carries whole: EBB_TFJS_NODE names a folder in whose node_modules it is.
// Where it is set, the suites that run on each backend run on it as well (support.mjs); here it is on its own, as
// a program has it that knows nothing of Ebb.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TFJS_NODE, tfjsNodeRuns } from './support.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const skip = tfjsNodeRuns
  ? false
  : TFJS_NODE === undefined
    ? 'EBB_TFJS_NODE names no folder with tfjs-node'
    : `tfjs-node does not run on Node ${process.versions.node}`;

const folder = mkdtempSync(join(tmpdir(), 'ebb-tfjs-node-'));
after(() => rmSync(folder, { recursive: true }));

const PROGRAM = `
const tf = require('node:module').createRequire(process.env.EBB_TFJS_NODE + '/index.js')('@tensorflow/tfjs-node');
const backend = tf.backend().constructor.name;
const x = tf.ones([256, 1024]);
let most = 0;
for (let i = 0; i < 1000; i++) {
  tf.relu(tf.add(x, i)).reshape([1024, 256]); // 2 MB a round, nothing disposed
  most = Math.max(most, tf.memory().numBytes);
}
const last = tf.add(x, 1).sum().dataSync()[0];
const mb = Math.round(process.memoryUsage.rss() / 2 ** 20);
console.log(JSON.stringify({ backend, last, mostMb: most / 2 ** 20, mb }));`;

function run(...flags) {
  const file = join(folder, 'program.cjs');
  writeFileSync(file, PROGRAM);
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, file], {
    encoding: 'utf8',
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, EBB_BUDGET: '64MB' },
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

test('a program that drops everything, without Ebb and with it', { skip }, () => {
  const without = run();
  const withEbb = run('--import', join(root, 'dist', 'auto.js'));
  for (const { backend, last } of [without, withEbb]) {
    assert.equal(backend, 'NodeJSKernelBackend');
    assert.equal(last, 2 * 256 * 1024);
  }
  assert.ok(without.mostMb >= 2000, `${without.mostMb} MB of tensors without Ebb`);
  assert.ok(withEbb.mostMb <= 65, `${withEbb.mostMb} MB of tensors with a budget of 64 MB`);
  assert.ok(
    without.mb - withEbb.mb > 1500,
    `resident: ${without.mb} MB, with Ebb ${withEbb.mb} MB`,
  );
});
