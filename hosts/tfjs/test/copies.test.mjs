// Several copies of the package's JavaScript in one isolate, and several engines: as jest and two installs make them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
mkdirSync(join(root, 'build'), { recursive: true });
const project = mkdtempSync(join(root, 'build', 'copies-'));
mkdirSync(join(project, 'node_modules'));
for (const name of ['@tensorflow', 'omggif']) {
  symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
}
after(() => rmSync(project, { recursive: true }));

/** An installed copy with an addon of its own. */
function install(name, change = (text) => text) {
  const folder = join(project, 'node_modules', name);
  mkdirSync(join(folder, 'build'), { recursive: true });
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  for (const file of ['ebb_node.node', 'libhwy.so.1']) {
    cpSync(join(root, 'build', file), join(folder, 'build', file));
  }
  const shared = join(folder, 'dist', 'shared.js');
  writeFileSync(shared, change(readFileSync(shared, 'utf8')));
}
install('first');
install('second');
install('older', (text) => text.replace(/VERSION = '[^']*'/, "VERSION = '0.0.1'"));

function run(code) {
  writeFileSync(join(project, 'app.cjs'), code);
  const { stdout, stderr } = spawnSync(process.execPath, ['app.cjs'], {
    cwd: project,
    encoding: 'utf8',
  });
  return (stdout.trim() || stderr.trim()).split('\n').at(-1);
}

/** Loads this package anew, as a module registry that is reset does. */
const RELOAD = `
function reload(name) {
  for (const file of Object.keys(require.cache)) {
    if (/ebb-tfjs|first|second|hosts.tfjs.dist/.test(file) && !file.endsWith('.node')) delete require.cache[file];
  }
  return require(name);
}`;
const LOOP = `
const held = tf.tensor1d([1, 2, 3]);
for (let i = 0; i < 20000; i++) tf.add(tf.tensor1d([i]), 1).reshape([1, 1]);`;

for (const backend of ['cpu', 'ebb']) {
  const load = backend === 'cpu' ? "require('@tensorflow/tfjs')" : "require('first/backend')";
  test(`a registry that is reset, ${backend}`, () => {
    const out = run(`${RELOAD}
const tf = ${load}; let ebb = require('first');
(async () => {
  await tf.setBackend('${backend}');
  ebb.reclaim.on();
  ${LOOP}
  const again = reload('first');
  ${backend === 'ebb' ? "require('first/backend');" : ''}
  const before = again.reclaim.isOn;
  for (let i = 0; i < 20000; i++) tf.add(tf.tensor1d([i]), 1);
  const inside = await again.tidy(async () => { await null; return tf.add(held, 1); });
  again.collect(); again.audit(); ebb.audit();
  console.log(before, again !== ebb, tf.memory().numTensors < 15000, held.dataSync().join(), inside.dataSync().join());
})();`);
    assert.equal(out, 'true true true 1,2,3 2,3,4');
  });

  test(`two installs, ${backend}`, () => {
    const out = run(`
const tf = ${load}; const one = require('first'); const two = require('second');
(async () => {
  await tf.setBackend('${backend}');
  one.reclaim.on(); two.reclaim.on();
  ${LOOP}
  two.collect(); one.audit(); two.audit();
  console.log(one.reclaim.isOn, two.reclaim.isOn, tf.memory().numTensors < 15000, held.dataSync().join(), two.memory().live === one.memory().live);
})();`);
    assert.equal(out, 'true true true 1,2,3 true');
  });
}

test('several engines in one isolate have books each', () => {
  const out = run(`
const tf = require('@tensorflow/tfjs'); const ebb = require('first');
ebb.reclaim.on();
const mine = tf.tensor1d([1]);
// Another global object, with an engine, a TensorFlow.js and an Ebb of its own: a test file of jest's.
for (const file of Object.keys(require.cache)) if (!file.endsWith('.node')) delete require.cache[file];
const engine = globalThis._tfengine; const isolate = Object.getOwnPropertySymbols(globalThis).find((s) => String(s).includes('ebb-tfjs'));
delete globalThis._tfengine; delete globalThis[isolate];
const other = require('@tensorflow/tfjs'); const theirs = require('first');
theirs.reclaim.on();
const held = other.tensor1d([5]);
for (let i = 0; i < 20000; i++) other.add(other.tensor1d([i]), 1);
theirs.collect(); theirs.audit();
const there = other.memory().numTensors;
const value = held.dataSync()[0];
globalThis._tfengine = engine;
ebb.collect();
console.log(other !== tf, there < 15000, mine.dataSync()[0], value, tf.memory().numTensors);`);
  assert.equal(out, 'true true 1 5 1');
});

/** Records a function and a model, and trains; says what came of it with and without. */
const RECORDS = `
const trained = (tf, record) => {
  const w = tf.variable(tf.tensor1d([1, 2])), x = tf.tensor1d([1, 2]), optimizer = tf.train.adam(0.1);
  const step = record((y) => optimizer.minimize(() => y.mul(w).sum(), true));
  for (let i = 0; i < 4; i++) step(x);
  optimizer.learningRate = 1;
  for (let i = 0; i < 2; i++) step(x);
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1], kernelInitializer: 'ones' })] });
  if (record.isOn) record(model);
  const twice = record((o) => o.x.mul(2));
  const found = [3, 4].map((each) => twice({ x: tf.scalar(each) }).dataSync()[0]);
  const predicted = model.predict(tf.ones([1, 1])).dataSync()[0];
  const text = JSON.stringify([...w.dataSync(), optimizer.iterations, ...found, predicted]);
  for (const each of [w, optimizer, model]) each.dispose();
  return text;
};
const asIs = (what) => what;
module.exports = (tf, ebb) => {
  const record = Object.assign((what) => ebb.record(what), { isOn: true });
  return trained(tf, record) === trained(tf, asIs) ? 'the same' : trained(tf, record) + trained(tf, asIs);
};`;

test('functions are recorded where all modules are loaded again', () => {
  writeFileSync(join(project, 'records.cjs'), RECORDS);
  const out = run(`
const both = [];
for (let i = 0; i < 2; i++) {
  for (const file of Object.keys(require.cache)) if (!file.endsWith('.node')) delete require.cache[file];
  both.push(require('./records.cjs')(require('first/backend'), require('first')));
}
console.log(both.join());`);
  assert.equal(out, 'the same,the same');
});

test('functions are recorded in each realm', () => {
  writeFileSync(join(project, 'records.cjs'), RECORDS);
  writeFileSync(
    join(project, 'inside.cjs'),
    "module.exports = require('./records.cjs')(require('first/backend'), require('first'));",
  );
  const realm = JSON.stringify(join(root, 'runners', 'realm.cjs'));
  const out = run(`
const { registry } = require(${realm});
const load = () => registry()(require.resolve('./inside.cjs'));
console.log(load(), load());`);
  assert.equal(out, 'the same the same');
});

test('another version says so', () => {
  const out = run(`
require('@tensorflow/tfjs'); require('first').reclaim.on();
try { require('older').reclaim.on(); } catch (error) { console.log(error.code, error.message); }`);
  assert.match(out, /^EBB_UNSUPPORTED .*Version .* is at work here already, this is 0\.0\.1/);
});
