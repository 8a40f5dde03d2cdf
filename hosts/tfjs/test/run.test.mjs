// `npx ebb run` on programs that are not like the others, and its tool as a process of its own.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cli = join(root, 'dist', 'node', 'cli.js');
const folder = mkdtempSync(join(tmpdir(), 'ebb-run-'));
after(() => rmSync(folder, { recursive: true }));
const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
const TF = `const tf = require(${JSON.stringify(join(root, 'node_modules', '@tensorflow', 'tfjs'))});`;

function ebb(...words) {
  const options = { encoding: 'utf8', env, cwd: folder, maxBuffer: 1 << 28 };
  const done = spawnSync(process.execPath, [cli, ...words], options);
  assert.equal(done.error, undefined);
  return done;
}

function program(name, text) {
  const file = join(folder, name);
  writeFileSync(file, `${TF}\n${text}`);
  return file;
}

/** Holds 50 KB more every five milliseconds. */
const LEAK = `const held = []; globalThis.held = held;
async function leak(ms) {
  await tf.setBackend('cpu');
  const until = Date.now() + ms;
  while (Date.now() < until) { held.push(tf.zeros([64, 200])); await new Promise((f) => setTimeout(f, 5)); }
}`;

test('a program that closes its standard streams ends as it would have', () => {
  for (const closed of [[2], [0, 1, 2]]) {
    const file = program(
      'closes.cjs',
      `${LEAK}
       leak(200).then(() => ${JSON.stringify(closed)}.forEach((fd) => require('fs').closeSync(fd)));`,
    );
    const { status, signal, stderr } = ebb('run', '--out', 'closes.ebbrec', file);
    assert.deepEqual([status, signal], [0, null], stderr);
    const report = JSON.parse(ebb('report', '--json', 'closes.ebbrec').stdout);
    assert.equal(report.program_ended, true);
    assert.ok(report.live > 5);
  }
});

for (const change of [
  'Object.freeze(Error);',
  'Error.captureStackTrace = undefined; Error.stackTraceLimit = 0;',
  'globalThis.Error = class Error {};',
  "process.stderr.write = () => { throw new TypeError('not mine'); };",
  'globalThis.performance = undefined;',
]) {
  test(`a program runs on after ${change}`, () => {
    const file = program(
      'changes.cjs',
      `${LEAK}\n leak(100).then(() => { ${change} return leak(500); });`,
    );
    const { status, signal, stderr } = ebb(
      'run',
      '--mode',
      'full',
      '--out',
      'changes.ebbrec',
      file,
    );
    assert.deepEqual([status, signal], [0, null], stderr);
    assert.match(stderr, /^ebb: .*\d MB .*given back\)/m);
    assert.ok(JSON.parse(ebb('report', '--json', 'changes.ebbrec').stdout).live > 50);
  });
}

test('what is no regular file is not written to', () => {
  const file = program('short.cjs', 'tf.zeros([1]); console.log(7);');
  const [target, link] = ['target', 'link.ebbrec'].map((name) => join(folder, name));
  writeFileSync(target, 'as it was');
  symlinkSync(target, link);
  for (const out of [link, folder, '/dev/null']) {
    const { stdout, stderr, status } = ebb('run', '--out', out, file);
    assert.deepEqual([stdout, status], ['', 2], stderr);
    assert.match(stderr, /^ebb: .* is no regular file/);
  }
  assert.equal(readFileSync(target, 'utf8'), 'as it was');
  assert.equal(lstatSync(link).isSymbolicLink(), true);
});

test('mode counters tells growth and the peak, and no place', () => {
  const file = program('counted.cjs', `${LEAK} leak(2000);`);
  const { stderr, status } = ebb('run', '--mode', 'counters', '--out', 'counted.ebbrec', file);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^ebb: growing \+[\d.]+ MB\/s/m);
  assert.match(stderr, /no place stands out: --mode full takes the place of every tensor/);
  const report = JSON.parse(ebb('report', '--json', 'counted.ebbrec').stdout);
  assert.deepEqual([report.mode, report.events], ['counters', 0]);
  assert.ok(report.peak > 1e6, JSON.stringify(report));
  writeFileSync(join(folder, 'budget.json'), '{"peak": "1MB", "growing": true}');
  const check = ebb('check', 'counted.ebbrec', '--budget', 'budget.json');
  assert.equal(check.status, 1, check.stdout);
  assert.match(check.stdout, /over: the peak is/);
});

test('the tool ends with the command that called it', async () => {
  const file = program('short.cjs', 'tf.zeros([1]);');
  ebb('run', '--out', 'short.ebbrec', file);
  const view = spawn(process.execPath, [cli, 'view', join(folder, 'short.ebbrec')], { env });
  after(() => view.kill('SIGKILL'));
  const said = String((await once(view.stdout, 'data'))[0]);
  const address = said.match(/http:\S+/)[0];
  assert.equal((await fetch(address, { redirect: 'manual' })).status, 303);
  view.kill('SIGTERM');
  assert.deepEqual(await once(view, 'exit'), [0, null]); // it listens for the signal
  await assert.rejects(fetch(address));
});

test('ten thousand places', () => {
  const count = 10_000;
  const rounds = 3;
  const makers = Array.from(
    { length: count },
    (_, i) => `() => keep.push(tf.fill([${(i % 7) + 1}], 1)),`,
  );
  const file = program(
    'places.cjs',
    `const keep = []; globalThis.keep = keep;
     const makers = [\n${makers.join('\n')}\n];
     tf.setBackend('cpu').then(async () => {
       for (let i = 0; i < ${rounds}; i++) {
         for (const make of makers) make();
         await new Promise((f) => setTimeout(f, 400));
       }
     });`,
  );
  const { stderr, status } = ebb(
    'run',
    '--mode',
    'full',
    '--no-why',
    '--out',
    'places.ebbrec',
    file,
  );
  assert.equal(status, 0, stderr);
  assert.ok(stderr.split('\n').length < 20, stderr);
  const report = JSON.parse(ebb('report', '--json', '--top', '20000', 'places.ebbrec').stdout);
  assert.deepEqual([report.created, report.live], [count * rounds, count * rounds]);
  assert.equal(report.places.length, count);
  const first = readFileSync(file, 'utf8').split('\n').indexOf(makers[0]) + 1;
  for (const { line, live, live_bytes: bytes } of report.places) {
    assert.equal(live, rounds, `line ${line}`);
    assert.equal(bytes, rounds * 4 * (((line - first) % 7) + 1), `line ${line}`);
  }
  const lines = ebb('export', 'places.ebbrec', '--format', 'collapsed').stdout.trim().split('\n');
  assert.equal(lines.length, count);
  const sum = lines.reduce((all, line) => all + Number(line.split(' ').at(-1)), 0);
  assert.equal(
    sum,
    report.places.reduce((all, place) => all + place.live_bytes, 0),
  );
  assert.match(ebb('diff', 'places.ebbrec', 'places.ebbrec').stdout, /no place holds more or less/);
  for (const format of ['pprof', 'speedscope', 'heapprofile', 'perfetto', 'memory_viz']) {
    const to = join(folder, `places.${format}`);
    assert.equal(ebb('export', 'places.ebbrec', '--format', format, '-o', to).status, 0, format);
    assert.ok(statSync(to).size < 20 << 20, format);
  }
  assert.ok(statSync(join(folder, 'places.html')).size < 2 << 20);
});
