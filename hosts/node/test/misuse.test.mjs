// Item 11: wrong use is answered with an error that says what to do.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ebb, require } from './support.mjs';

test('budget', () => {
  for (const bad of ['two gigs', '', -1, 0, NaN, null, {}]) {
    assert.throws(() => ebb.budget(bad), { code: 'EBB_INVALID_ARGUMENT', message: /2GB/ });
  }
  assert.equal(ebb.budget('2GB'), 2 ** 31);
  assert.equal(ebb.budget('512 MiB'), 2 ** 29);
  assert.equal(ebb.budget(12345), 12345);
  assert.equal(ebb.budget(), 12345);
});

test('reclaim.on, tidy, expectNoLeaks, collect, report', async () => {
  assert.throws(() => ebb.reclaim.on(true), { code: 'EBB_INVALID_ARGUMENT' });
  assert.throws(() => ebb.reclaim.on({ variabels: true }), /variables/);
  assert.throws(() => ebb.reclaim.on({ variables: 'no' }), /true or false/);
  assert.throws(() => ebb.tidy(42), /function/);
  assert.throws(() => ebb.tidy('name'), /function/);
  await assert.rejects(ebb.expectNoLeaks('x'), /function/);
  assert.throws(() => ebb.collect('huge'), /minor/);
  assert.throws(() => ebb.report({ top: 0 }), /top/);
  for (const frames of [0, 11, 1.5, '2']) {
    assert.throws(() => ebb.trace.on({ frames }), /from 1 to 10/);
  }
  assert.equal(ebb.trace.isOn, false);
});

const entry = require.resolve('ebb-tfjs');

test('no TensorFlow.js', () => {
  const code = `const Module = require('node:module'); const { _resolveFilename } = Module;
    Module._resolveFilename = (name, ...rest) => {
      if (name.startsWith('@tensorflow')) throw Object.assign(new Error('none'), { code: 'MODULE_NOT_FOUND' });
      return _resolveFilename(name, ...rest); };
    const ebb = require(${JSON.stringify(entry)});
    for (const use of [() => ebb.reclaim.on(), () => ebb.tidy(() => 1)])
      try { use(); } catch (error) { console.log(error.code, error.message); }`;
  const cwd = mkdtempSync(join(tmpdir(), 'ebb-none-'));
  const out = execFileSync(process.execPath, ['-e', code], { cwd, encoding: 'utf8' });
  const [on, tidy] = out.trim().split('\n');
  assert.match(on, /EBB_NO_TFJS .*npm install @tensorflow\/tfjs-core/);
  assert.match(tidy, /EBB_NO_TFJS .*require/);
});

test('an older Node', () => {
  const code = `Object.defineProperty(process.versions, 'node', { value: '18.20.0' });
    require(${JSON.stringify(entry)});`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, /Node 18\.20\.0 is too old; use Node 20 or newer/);
});
