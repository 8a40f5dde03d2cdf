// Item 11: wrong use is answered with an error that says what to do.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  assert.throws(
    () => ebb.report({ tops: 3 }),
    /"tops"; allowed: the options top, json, everywhere/,
  );
  assert.throws(() => ebb.memory('all'), /an object/);
  for (const path of [undefined, '', 7]) assert.throws(() => ebb.snapshot(path), /path of a file/);
  assert.throws(() => ebb.snapshot('/nowhere/x.json'), /\/nowhere\/x\.json/);
  assert.throws(() => ebb.budget('1GB', { strickt: true }), /the option strict/);
  assert.throws(() => ebb.trace.on({ frame: 2 }), /the option frames/);
  await assert.rejects(
    ebb.expectNoLeaks(() => 1, { reachable: true }),
    /reachableOnly/,
  );
  for (const frames of [0, 11, 1.5, '2']) {
    assert.throws(() => ebb.trace.on({ frames }), /from 1 to 10/);
  }
  assert.equal(ebb.trace.isOn, false);
});

test('options that are not what they must be', () => {
  assert.throws(() => ebb.budget('4MB', { strict: 'yes' }), /strict\] .*true or false/);
  assert.throws(() => ebb.report({ json: 'yes' }), /json\] .*true or false/);
  assert.throws(() => ebb.memory({ everywhere: 1 }), /everywhere\] .*true or false/);
  const { node } = require('ebb-tfjs/backend');
  assert.throws(() => node.tensorBoard('logs', { histograms: 1 }), /the options updateFreq/);
  assert.throws(() => node.tensorBoard('logs', { histogramFreq: -1 }), /from 0 on/);
});

test('a snapshot takes the place of a regular file, behind links as well, and of nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ebb-snapshot-'));
  const [file, link, dangling] = ['file', 'link', 'dangling'].map((name) => join(folder, name));
  writeFileSync(file, 'old');
  symlinkSync('file', link);
  symlinkSync('later', dangling);
  ebb.snapshot(link);
  ebb.snapshot(dangling);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.ok(JSON.parse(readFileSync(file, 'utf8')));
  assert.ok(JSON.parse(readFileSync(join(folder, 'later'), 'utf8')));
  for (const other of ['/dev/null', folder]) {
    assert.throws(() => ebb.snapshot(other), /a regular file/);
  }
  rmSync(folder, { recursive: true });
});

const entry = require.resolve('ebb-tfjs');

test('EBB_ADDON that is not there', () => {
  const { stderr, status } = spawnSync(
    process.execPath,
    ['-e', `require(${JSON.stringify(entry)})`],
    {
      env: { ...process.env, EBB_ADDON: '/nonexistent' },
      encoding: 'utf8',
    },
  );
  assert.notEqual(status, 0);
  assert.match(stderr, /\[EBB_ADDON\] Received "\/nonexistent"/);
});

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

test('an addon that does not load', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ebb-addon-'));
  const other = join(folder, 'other.node');
  writeFileSync(other, 'of another machine');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['-e', `require(${JSON.stringify(entry)})`],
    {
      encoding: 'utf8',
      env: { ...process.env, EBB_ADDON: other },
    },
  );
  assert.notEqual(status, 0);
  assert.match(
    stderr,
    /does not load on linux-x64 \(.*other\.node.*there are packages for linux-x64/,
  );
});

test('EBB_DEVICE: another word, and a GPU that is not there', () => {
  const backend = require.resolve('ebb-tfjs/backend');
  const withDevice = (device) =>
    spawnSync(process.execPath, ['-e', `require(${JSON.stringify(backend)})`], {
      encoding: 'utf8',
      env: { ...process.env, EBB_DEVICE: device, EBB_CUDA_PLUGIN: '/nowhere/libebb_cuda.so' },
    });
  for (const device of ['gpu', 'cuda', 'cuda:x']) {
    const { status, stderr } = withDevice(device);
    assert.notEqual(status, 0);
    assert.match(stderr, new RegExp(`\\[EBB_DEVICE\\] Received "${device}"; allowed: cpu, cuda:0`));
  }
  const { status, stderr } = withDevice('cuda:0');
  assert.notEqual(status, 0);
  assert.match(
    stderr,
    /cuda:0 is not there: libebb_cuda\.so was not found .*make cuda.*npm install ebb-tfjs-cuda-linux-x64/,
  );
  assert.equal(withDevice('cpu').status, 0);
});

test('an older Node', () => {
  const code = `Object.defineProperty(process.versions, 'node', { value: '18.20.0' });
    require(${JSON.stringify(entry)});`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, /Node 18\.20\.0 is too old; use Node 20 or newer/);
});
