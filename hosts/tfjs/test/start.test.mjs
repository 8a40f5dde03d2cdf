// Ways to begin: --import, --require, EBB_RECLAIM=1, npx ebb; import and require; several copies.
import assert from 'node:assert/strict';
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ebb } from './support.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
mkdirSync(join(root, 'build'), { recursive: true });
const project = mkdtempSync(join(root, 'build', 'project-'));
mkdirSync(join(project, 'node_modules'));
symlinkSync(
  join(root, 'node_modules', '@tensorflow'),
  join(project, 'node_modules', '@tensorflow'),
);
symlinkSync(root, join(project, 'node_modules', 'ebb-tfjs'));
after(() => rmSync(project, { recursive: true }));

const app = `
const tf = require('@tensorflow/tfjs'); require('@tensorflow/tfjs-backend-wasm');
tf.enableProdMode();
(async () => {
  await tf.setBackend('wasm');
  for (let i = 0; i < 20000; i++) globalThis.last = tf.add(tf.tensor1d([i]), 1);
  console.log(tf.memory().numTensors < 15000 ? 'flat' : 'growing', process.argv.slice(2).join(' '));
})();`;
writeFileSync(join(project, 'app.js'), app);
writeFileSync(join(project, 'own.js'), `require('ebb-tfjs');${app}`);
writeFileSync(
  join(project, 'module.mjs'),
  `import tf from '@tensorflow/tfjs'; import ebb, { reclaim, tidy } from 'ebb-tfjs';
import { createRequire } from 'node:module';
const same = createRequire(import.meta.url)('ebb-tfjs');
reclaim.on();
console.log(same.reclaim.isOn, ebb.tidy === tidy, same.tidy === tidy, typeof tf.add);`,
);

function node(args, env = {}) {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
  });
  return { out: stdout.trim(), err: stderr.trim(), status };
}

test('without Ebb it grows', () => assert.match(node(['app.js']).out, /^growing/));

for (const [title, args, env] of [
  ['--import ebb-tfjs/auto', ['--import', 'ebb-tfjs/auto', 'app.js', 'a', 'b']],
  ['--require ebb-tfjs/auto', ['--require', 'ebb-tfjs/auto', 'app.js', 'a', 'b']],
  ["EBB_RECLAIM=1 and require('ebb-tfjs')", ['own.js', 'a', 'b'], { EBB_RECLAIM: '1' }],
]) {
  test(title, () => {
    const { out, err, status } = node(args, env);
    assert.equal(out, 'flat a b');
    assert.equal(err, '', 'nothing is printed');
    assert.equal(status, 0);
  });
}

test('the same settings with EBB_RECLAIM=1 as with npx ebb', () => {
  writeFileSync(
    join(project, 'settings.js'),
    `const ebb = require('ebb-tfjs'); require('@tensorflow/tfjs-core');
console.log(ebb.reclaim.isOn, ebb.budget(), ebb.trace.isOn);`,
  );
  const env = { EBB_RECLAIM: '1', EBB_BUDGET: '1MB', EBB_TRACE: '1', EBB_REPORT: '3' };
  const { out, err } = node(['settings.js'], env);
  assert.equal(out, 'true 1048576 true');
  assert.equal(err.match(/^Ebb, /gm).length, 1, 'one report');
  assert.match(node(['settings.js'], { ...env, EBB_REPORT: 'all' }).err, /EBB_REPORT\] Received/);
  assert.match(
    node(['settings.js'], { EBB_RECLAIM: 'true' }).err,
    /\[EBB_RECLAIM\] Received "true"; allowed: 1 or 0/,
  );
  assert.match(node(['settings.js'], { EBB_RECLAIM: '0' }).out, /^false /);
});

test('strict without a size: the default budget throws', () => {
  writeFileSync(
    join(project, 'strict.js'),
    `const tf = require('@tensorflow/tfjs'); const ebb = require('ebb-tfjs');
tf.tensor1d([1]);
console.log(ebb.budget() > 2 ** 20, ebb.report({ json: true }).devices.map(({ mode }) => mode).join());`,
  );
  const cli = join(root, 'dist', 'node', 'cli.js');
  assert.equal(node([cli, '--strict', 'strict.js']).out, 'true hard');
  assert.equal(node([cli, 'strict.js']).out, 'true soft');
});

test('file:// right after the switch', () => {
  writeFileSync(
    join(project, 'files.js'),
    `const tf = require('@tensorflow/tfjs'); require('ebb-tfjs').reclaim.on();
tf.loadLayersModel('file:///nowhere/model.json').catch(({ message }) => console.log(message));`,
  );
  assert.match(node(['files.js']).out, /\/nowhere\/model\.json cannot be read/);
});

test('a report needs no reclaim', () => {
  for (const first of [
    "require('@tensorflow/tfjs'); const ebb = require('ebb-tfjs')",
    "const ebb = require('ebb-tfjs')",
  ]) {
    writeFileSync(
      join(project, 'traced.js'),
      `${first}; ebb.trace.on();
const tf = require('@tensorflow/tfjs');
const held = tf.tensor1d([1]);
console.log(ebb.reclaim.isOn, ebb.memory().live, ebb.report().match(/traced\\.js:3/) !== null);`,
    );
    assert.equal(node(['traced.js']).out, 'false 1 true');
  }
});

test("require('ebb-tfjs') alone changes nothing", () =>
  assert.match(node(['own.js']).out, /^growing/));

test('--import where there is no TensorFlow.js at all is harmless', () => {
  const { out, err } = node(['--import', 'ebb-tfjs/auto', '-e', 'console.log(1)']);
  assert.deepEqual([out, err], ['1', '']);
});

test('npx ebb', () => {
  const cli = join(root, 'dist', 'node', 'cli.js');
  const { out, err, status } = node([cli, '--budget', '1GB', '--report', 'app.js', 'x']);
  assert.equal(out, 'flat x');
  assert.match(err, /app\.js:6/);
  assert.equal(status, 0);
  assert.equal(node([cli, 'run', '--budget=1GB', 'app.js', 'y']).out, 'flat y');
  assert.equal(node([cli, '-e']).status, 2);
  assert.match(node([cli, '--budget', 'much', 'app.js']).err, /2GB/);
  assert.match(node([cli, '--report=all', 'app.js']).err, /--report.*whole number/);
  writeFileSync(join(project, 'fails.js'), 'process.exit(7)');
  assert.equal(node([cli, 'fails.js']).status, 7);
  assert.match(node([cli, '--help']).out, /--budget/);
});

test('npx ebb: what comes after the program is its own', () => {
  const cli = join(root, 'dist', 'node', 'cli.js');
  writeFileSync(join(project, 'words.js'), 'console.log(process.argv.slice(2).join())');
  const all = ['words.js', '--help', '--report=3', '--', '-x'];
  const { out, err } = node([cli, ...all]);
  assert.equal(out, '--help,--report=3,--,-x');
  assert.match(err, /^ebb: --report=3 goes to words\.js; .*$/);
  const meant = node([cli, '--trace', '--', ...all]);
  assert.deepEqual([meant.out, meant.err], ['--help,--report=3,--,-x', '']);
});

test('npx ebb: a parent talks to the program', async () => {
  writeFileSync(
    join(project, 'talks.js'),
    "process.on('message', (x) => { process.send(x + 1); setImmediate(() => process.disconnect()); });",
  );
  const child = fork(join(root, 'dist', 'node', 'cli.js'), ['talks.js'], { cwd: project });
  child.send(41);
  const [answer] = await once(child, 'message');
  assert.equal(answer, 42);
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
});

test('the default budget: half of what the process may use, on wasm at most 3 GB', () => {
  writeFileSync(
    join(project, 'budget.js'),
    `const tf = require('@tensorflow/tfjs'); require('@tensorflow/tfjs-backend-wasm');
const ebb = require('ebb-tfjs'); ebb.reclaim.on();
(async () => {
  for (const backend of ['cpu', 'wasm']) { await tf.setBackend(backend); console.log(ebb.budget()); }
})();`,
  );
  const [cpu, wasm] = node(['budget.js']).out.split('\n').map(Number);
  const limit = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  assert.equal(cpu, Math.floor(limit / 2));
  assert.equal(wasm, Math.min(cpu, 3 * 2 ** 30));
});

test("V8's threads stay out of scavenges for a moment, unless the user said something about them", () => {
  writeFileSync(
    join(project, 'flags.js'),
    `const v8 = require('node:v8'); const { setFlagsFromString } = v8; const seen = [];
v8.setFlagsFromString = (flag) => { seen.push(flag); setFlagsFromString(flag); };
require('@tensorflow/tfjs-core'); const ebb = require('ebb-tfjs'); ebb.reclaim.on();
const again = (times) => {
  ebb.collect('minor'); ebb.collect('minor');
  if (times > 0) return setTimeout(again, 500, times - 1);
  console.log(seen.filter((flag) => /scavenge|sweeping/.test(flag)).join());
};
again(1);`,
  );
  const alone = '--no-parallel-scavenge,--no-concurrent-array-buffer-sweeping';
  const together = '--parallel-scavenge,--concurrent-array-buffer-sweeping';
  assert.equal(node(['flags.js']).out, `${alone},${together},${alone}`);
  writeFileSync(
    join(project, 'flags_worker.js'),
    "new (require('node:worker_threads').Worker)(require('node:path').join(__dirname, 'flags.js'));",
  );
  const each = `${alone},${together}`;
  assert.equal(node(['flags_worker.js']).out, [each, each, each, each].join());
  for (const flag of [
    '--no-parallel-scavenge',
    '--parallel_scavenge',
    '--no-concurrent-array-buffer-sweeping',
    '--single-threaded-gc',
  ]) {
    assert.equal(node([flag, 'flags.js']).out, '', flag);
  }
});

test("tensors in TensorFlow.js's own table are known when reclaim goes on, and end", () => {
  writeFileSync(
    join(project, 'before.js'),
    `const tf = require('@tensorflow/tfjs'); tf.enableProdMode();
const ebb = require('ebb-tfjs');
(async () => {
  await tf.setBackend('cpu');
  const old = tf.tensor1d([1, 2, 3, 4]), table = tf.engine().state.tensorInfo;
  ebb.reclaim.on();
  const view = old.reshape([2, 2]), born = tf.tensor1d([5]);
  const said = [table instanceof WeakMap, tf.engine().state.tensorInfo !== table, table.has(view.dataId), table.has(born.dataId)];
  old.dispose(); said.push(view.add(born).dataSync().join());
  view.dispose(); said.push(table.has(view.dataId), tf.memory().numDataBuffers, ebb.memory().unwatched);
  ebb.audit();
  console.log(said.join(' '));
})();`,
  );
  const known = 'true true true false 6,7,8,9 false';
  // The sum is dropped: it may have come back by then.
  assert.match(node(['before.js']).out, new RegExp(`^${known} [12] 0$`));
});

test('AsyncLocalStorage starts with the first tidy that waits, and nothing is printed', () => {
  writeFileSync(
    join(project, 'storage.js'),
    `const { AsyncLocalStorage } = require('node:async_hooks');
const { run } = AsyncLocalStorage.prototype; let runs = 0;
AsyncLocalStorage.prototype.run = function (...args) { runs++; return run.apply(this, args); };
const tf = require('@tensorflow/tfjs'); tf.enableProdMode();
const ebb = require('ebb-tfjs'); ebb.reclaim.on();
(async () => {
  await tf.setBackend('cpu');
  for (let i = 0; i < 3000; i++) tf.tidy(() => tf.tensor1d([i]).add(1)).square();
  ebb.collect(); await null;
  const before = runs;
  await ebb.tidy(async () => { await null; return tf.scalar(1); });
  console.log(before, runs > before);
})();`,
  );
  assert.deepEqual(node(['storage.js']), { out: '0 true', err: '', status: 0 });
});

test('import and require give one instance', () => {
  assert.equal(node(['module.mjs']).out, 'true true true function');
});

test('several copies of tfjs-core share one engine, and work', () => {
  const copy = join(project, 'copy', 'node_modules', '@tensorflow', 'tfjs-core');
  cpSync(join(root, 'node_modules', '@tensorflow', 'tfjs-core'), copy, {
    recursive: true,
    filter: skipMaps,
  });
  writeFileSync(
    join(project, 'copies.js'),
    `const one = require('@tensorflow/tfjs'); one.enableProdMode();
const two = require(${JSON.stringify(copy)});
const ebb = require('ebb-tfjs'); ebb.reclaim.on();
(async () => {
  await one.setBackend('cpu');
  const held = two.add(one.tensor1d([1]), two.tensor1d([2]));
  for (let i = 0; i < 5000; i++) { two.tensor1d([i]); one.tensor1d([i]); two.tidy(() => one.add(held, 1)); }
  await new Promise((resolve) => setTimeout(resolve, 1));
  ebb.collect(); ebb.audit();
  console.log(one.Tensor !== two.Tensor, one.memory().numTensors <= 3, ebb.memory().live === two.engine().state.numTensors,
    held.dataSync()[0], (await held.data())[0]);
})();`,
  );
  assert.equal(node(['copies.js']).out, 'true true true 3 3');
});

function skipMaps(path) {
  return !path.endsWith('.map') && !path.includes('_test.') && !path.includes('miniprogram');
}

test('a copy of tfjs-layers that comes later: its models come back as well', () => {
  const copies = join(project, 'later', 'node_modules', '@tensorflow');
  for (const name of ['tfjs-core', 'tfjs-layers']) {
    cpSync(join(root, 'node_modules', '@tensorflow', name), join(copies, name), {
      recursive: true,
      filter: skipMaps,
    });
  }
  writeFileSync(
    join(project, 'later.js'),
    `const tf = require('@tensorflow/tfjs'); tf.enableProdMode();
const ebb = require('ebb-tfjs'); ebb.reclaim.on();
const layers = require(${JSON.stringify(join(copies, 'tfjs-layers'))});
const build = ({ sequential, layers }, name) => {
  const model = sequential({ layers: [layers.dense({ units: 3, inputShape: [2], name })] });
  model.predict(tf.ones([1, 2]));
};
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
(async () => {
  await tf.setBackend('cpu');
  for (let i = 0; i < 5; i++) { build(tf, 'one' + i); build(layers, 'two' + i); await turn(); }
  const before = tf.memory().numTensors;
  for (let i = 0; i < 5; i++) { await turn(); ebb.collect(); }
  console.log(layers.layers.dense !== tf.layers.dense, before > 0, tf.memory().numTensors);
  ebb.audit();
})();`,
  );
  assert.equal(node(['later.js']).out, 'true true 0');
});

test('the types describe what is there', () => {
  assert.deepEqual(Object.keys(ebb).sort(), [
    'EbbError',
    'METRICS_TYPE',
    'audit',
    'budget',
    'collect',
    'expectNoLeaks',
    'holders',
    'memory',
    'metrics',
    'openTelemetry',
    'reclaim',
    'record',
    'recorded',
    'recording',
    'report',
    'snapshot',
    'tape',
    'tidy',
    'trace',
    'trim',
    'why',
  ]);
});
