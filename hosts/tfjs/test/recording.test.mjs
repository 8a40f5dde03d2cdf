// Recording: `npx ebb run`, and the functions. What the tool reads back is what happened.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { collected, ebb, sleep, tf, use } from './support.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cli = join(root, 'dist', 'node', 'cli.js');
const tool = join(root, 'build', 'ebb');
const folder = mkdtempSync(join(tmpdir(), 'ebb-recording-'));
after(() => rmSync(folder, { recursive: true }));
afterEach(() => ebb.recording.stop());

const environment = { ...process.env, NODE_TEST_CONTEXT: undefined };
const leaking = (name) => join(root, 'test', 'leaks', name);

function run(words, env = {}, options = {}) {
  const all = { encoding: 'utf8', env: { ...environment, ...env }, cwd: folder, ...options };
  return spawnSync(process.execPath, [cli, ...words], all);
}

function report(...words) {
  const { stdout, stderr, status } = spawnSync(tool, ['report', '--json', ...words], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** Where the text stands first in a program that leaks. */
function lineOf(name, text) {
  const lines = readFileSync(leaking(name), 'utf8').split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
}

for (const [name, made, holder] of [
  ['server.cjs', 'const features =', 'server.cjs: cache (Map) -> .get("features") (Array)'],
  ['training.mjs', 'const predicted =', 'training.mjs: a variable of train (Array)'],
]) {
  test(`${name}: a leak's line and holder are named`, () => {
    const out = join(folder, `leak-${name}.ebbrec`);
    const { stderr, status } = run(['run', '--out', out, leaking(name)], {
      LEAK: '1',
      SECONDS: '8',
    });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^ebb: growing \+.*given back\)$/m);
    assert.ok(stderr.includes(`${name}:${lineOf(name, made)})`), stderr);
    assert.ok(stderr.includes(`held by: ${holder} -> [`), stderr);
    assert.ok(stderr.includes(`recording: ${out}`), stderr);
    const [growing] = report(out).places;
    assert.ok(growing.holder.startsWith(holder), growing.holder);
    const page = stderr.match(/report: (\S+\.html)/)[1];
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>/i);
  });

  test(`${name}: the clean version is flat`, () => {
    const out = join(folder, `clean-${name}.ebbrec`);
    const { stderr, status } = run(['run', '--out', out, leaking(name)], {
      LEAK: '0',
      SECONDS: '5',
    });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^ebb: flat at /m);
  });
}

test('options are checked, and say what is allowed', () => {
  const { recording } = ebb;
  const allowed = { code: 'EBB_INVALID_ARGUMENT', message: /allowed:/ };
  for (const options of [
    { mode: 'some' },
    { mode: 2 },
    { path: '' },
    { path: 'a\0b' },
    { path: folder },
    { max: '-1' },
    { max: 'much' },
    { sampleBytes: 0 },
    { name: 7 },
    { out: 'x' },
    null,
  ])
    assert.throws(() => recording.start(options), allowed, JSON.stringify(options));
  assert.throws(() => recording.mode('off'), allowed);
  assert.throws(() => recording.mark(''), allowed);
  assert.throws(() => recording.mode('full'), { code: 'EBB_WRONG_STATE' });
  assert.throws(() => recording.mark('nothing to mark'), { code: 'EBB_WRONG_STATE' });
  assert.equal(recording.isOn, false);
  recording.stop(); // also without one
  for (const words of [
    ['run', '--mode', 'some', 'a.js'],
    ['run', '--max', 'much', 'a.js'],
    ['run', '--max', '100KB', leaking('server.cjs')],
    ['run', '--out', '/nowhere/x.ebbrec', 'a.js'],
    ['run', '--mode'],
    ['run', 'missing.js'],
    ['run', '--out', 'x.ebbrec', './no/such/program'],
    ['run'],
    ['--mode', 'full', 'a.js'],
  ]) {
    const { stderr, status } = run(words);
    assert.equal(status, 2, `${words}: ${stderr}`);
    assert.match(stderr, /^ebb: .*\n\nUsage/s);
  }
  for (const name of ['missing.ebbrec', 'missing.html', 'x.ebbrec', 'program.ebbrec'])
    assert.equal(existsSync(join(folder, name)), false, name);
});

test('what the tool reads back is what the books say, in each mode', async () => {
  await use('wasm');
  ebb.reclaim.on();
  await collected();
  for (const mode of ['full', 'sampled', 'counters']) {
    const path = join(folder, `${mode}.ebbrec`);
    ebb.recording.start({ path, mode });
    assert.equal(ebb.recording.mode(), mode);
    assert.throws(() => ebb.recording.start({ path }), { code: 'EBB_WRONG_STATE' });
    const held = [];
    for (let i = 0; i < 50; i++) held.push(tf.zeros([1024, 256]));
    for (let i = 0; i < 500; i++) tf.add(i, 1).dispose();
    ebb.recording.mark('here');
    assert.equal(ebb.recording.stop(), path);
    const seen = report(path);
    assert.equal(seen.ended, true);
    const after = ebb.memory();
    if (mode === 'counters') assert.equal(seen.events, 0);
    else {
      assert.equal(seen.live, after.live, mode);
      assert.equal(seen.created, after.created, mode);
      const [most] = [...seen.places].sort((a, b) => b.live_bytes - a.live_bytes);
      assert.match(most.frames[0], /recording\.test\.mjs:\d+/);
      assert.equal(most.live_bytes, 50 * 1024 * 1024); // each has a place of its own: they are large
    }
    tf.dispose(held);
  }
});

test('sampled places stand for what was made there', async () => {
  await use('wasm');
  ebb.reclaim.on();
  const path = join(folder, 'estimate.ebbrec');
  ebb.recording.start({ path, sampleBytes: '32KB' });
  const held = [];
  for (let i = 0; i < 20000; i++) held.push(tf.zeros([64]));
  ebb.recording.stop();
  const place = report(path).places.find(({ frames }) => frames[0].includes('recording.test'));
  // One in about 26: the estimate's deviation is 1 / sqrt(770), or 3.6%.
  assert.ok(Math.abs(place.live - 20000) < 20000 * 0.2, `${place.live}`);
  tf.dispose(held);
});

/** Live tensors by the text of the line that made them. */
function byLine(path) {
  const lines = readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n');
  const found = {};
  for (const { frames, live } of report('--top', '1000', path).places) {
    const [, line] = /recording\.test\.mjs:(\d+)/.exec(frames[0] ?? '') ?? [];
    const name = /\/\/ (\w+)$/.exec(lines[line - 1] ?? '')?.[1];
    if (name !== undefined) found[name] = (found[name] ?? 0) + live;
  }
  return found;
}

test('a full recording guesses places, and learns which it must not guess', async () => {
  await use('wasm');
  ebb.reclaim.on();
  const path = join(folder, 'guessed.ebbrec');
  const held = [];
  const x = tf.zeros([4]);
  const big = tf.zeros([1024, 256]);
  ebb.recording.start({ path, mode: 'full' });
  tf.add(x, 0).dispose(); // the mode is known from the next safe point on
  for (let i = 0; i < 1000; i++) {
    held.push(tf.add(x, 1)); // first
    held.push(tf.add(x, 2)); // second
    held.push(tf.tensor1d([i])); // values
  }
  for (let i = 0; i < 4000; i++) {
    if (i % 3 === 2) held.push(x.mul(3)); // branch
    tf.mul(x, 4).dispose();
  }
  for (let i = 0; i < 100; i++) {
    if (i % 50 === 49) held.push(tf.square(big)); // rare
    tf.square(big).dispose();
  }
  ebb.recording.stop();
  const made = byLine(path);
  for (const name of ['first', 'second', 'values']) assert.equal(made[name], 1000, name);
  // One in 64 of those is looked at, and from the first that was on all of them are.
  assert.ok(made.branch > 666 && made.branch <= 1333, JSON.stringify(made));
  assert.equal(made.rare, 2); // each large one is looked at
  tf.dispose([held, x, big]);
});

test('tracing makes a sampled recording a full one, while it lasts', () => {
  ebb.recording.start({ path: join(folder, 'traced.ebbrec') });
  ebb.trace.on();
  assert.equal(ebb.recording.mode(), 'full');
  ebb.trace.off();
  assert.equal(ebb.recording.mode(), 'sampled');
  ebb.recording.mode('counters');
  ebb.trace.on();
  assert.equal(ebb.recording.mode(), 'counters');
  ebb.trace.off();
  ebb.recording.stop();
  ebb.trace.on();
  ebb.recording.start({ path: join(folder, 'traced.ebbrec') });
  assert.equal(ebb.recording.mode(), 'full');
  ebb.trace.off();
});

test("a worker's tensors are recorded, with their places", async () => {
  const path = join(folder, 'worker.ebbrec');
  ebb.recording.start({ path, mode: 'full' });
  const worker = new Worker(
    `const ebb = require('ebb-tfjs'); const tf = require('@tensorflow/tfjs'); ebb.reclaim.on();
     const { parentPort } = require('node:worker_threads');
     tf.setBackend('cpu').then(() => {
       const held = []; globalThis.held = held;
       for (let i = 0; i < 300; i++) held.push(tf.zeros([1000 + i]));
       parentPort.postMessage('made'); parentPort.once('message', () => process.exit());
     });`,
    { eval: true },
  );
  await once(worker, 'message');
  ebb.recording.stop();
  worker.postMessage('end');
  await once(worker, 'exit');
  const places = report(path).places.map(({ frames, live }) => [frames[0], live]);
  assert.ok(
    places.some(([frame, live]) => /worker/.test(frame) && live >= 300),
    JSON.stringify(places),
  );
});

test('a program that is killed leaves what happened until then', async () => {
  const file = join(folder, 'killed.cjs');
  writeFileSync(
    file,
    `const tf = require(${JSON.stringify(join(root, 'node_modules', '@tensorflow', 'tfjs'))});
     const held = []; globalThis.held = held;
     tf.setBackend('cpu').then(() => setInterval(() => {
       for (let i = 0; i < 20; i++) held.push(tf.zeros([1024, 64]));
       if (held.length === 200) console.log('ready');
     }, 10));`,
  );
  const out = join(folder, 'killed.ebbrec');
  const words = [cli, 'run', '--out', out, file];
  const program = spawn(process.execPath, words, { env: environment, cwd: folder });
  let said = '';
  program.stderr.on('data', (data) => (said += data));
  await once(program.stdout, 'data');
  await sleep(300);
  const inside = spawnSync('pgrep', ['-P', String(program.pid)], { encoding: 'utf8' });
  process.kill(Number(inside.stdout.trim()), 'SIGKILL');
  const [, signal] = await once(program, 'exit');
  assert.equal(signal, 'SIGKILL');
  assert.match(said, /ended by SIGKILL/);
  const seen = report(out);
  assert.equal(seen.ended, false);
  assert.ok(seen.live >= 150, `${seen.live}`);
});

test('a program that ends in a handler of uncaught exceptions is spoken for', () => {
  const file = join(folder, 'thrown.cjs');
  writeFileSync(
    file,
    `const tf = require(${JSON.stringify(join(root, 'node_modules', '@tensorflow', 'tfjs'))});
     process.on('uncaughtException', (error) => { throw error; });
     globalThis.held = [];
     setInterval(() => held.push(tf.zeros([1000])), 5);
     setTimeout(() => { throw new Error('thrown'); }, 500);`,
  );
  const { stderr, status } = run(['run', '--out', 'thrown.ebbrec', file]);
  assert.equal(status, 7, stderr);
  assert.match(stderr, /ebb: .*\n[^]*it was ended by exit code 7/);
});

test('what a program that exits with 7 has said is not said again, and its page says the same', () => {
  const file = join(folder, 'seven.cjs');
  writeFileSync(
    file,
    `const tf = require(${JSON.stringify(join(root, 'node_modules', '@tensorflow', 'tfjs'))});
     globalThis.held = [];
     const end = Date.now() + 4000;
     setInterval(() => {
       held.push(tf.ones([64, 64]), tf.ones([64, 64]));
       if (Date.now() > end) process.exit(7);
     }, 5);`,
  );
  const { stderr, status } = run(['run', '--out', 'seven.ebbrec', file]);
  assert.equal(status, 7, stderr);
  assert.match(stderr, /^ebb: growing \+/m);
  assert.equal(stderr.match(/recording:/g).length, 1, stderr);
  const seen = report(join(folder, 'seven.ebbrec'));
  assert.deepEqual([seen.growing, seen.program_ended], [true, true]);
});

test('SIGUSR2 asks while it runs; SIGTERM ends it with a report', async () => {
  const out = join(folder, 'asked.ebbrec');
  const words = [cli, 'run', '--out', out, leaking('server.cjs')];
  const env = { ...environment, LEAK: '1', SECONDS: '60' };
  const program = spawn(process.execPath, words, { env, cwd: folder });
  let said = '';
  program.stderr.on('data', (data) => (said += data));
  await sleep(4000);
  program.kill('SIGUSR2');
  const until = Date.now() + 20_000;
  while (!/asked by SIGUSR2[^]*recording:/.test(said) && Date.now() < until) await sleep(50);
  assert.match(said, /asked by SIGUSR2\nebb: .*\n[^]*recording:/);
  const inside = spawnSync('pgrep', ['-P', String(program.pid)], { encoding: 'utf8' });
  const asked = report('--collect', inside.stdout.trim());
  assert.ok(asked.live > 0 && !asked.ended, JSON.stringify(asked));
  program.kill('SIGTERM');
  const [, signal] = await once(program, 'exit');
  assert.equal(signal, 'SIGTERM');
  assert.equal(said.match(/recording:/g).length, 2, said);
});

test('a folder that cannot be written ends nothing', { skip: !canMount() }, () => {
  const closed = mkdtempSync(join(folder, 'closed-'));
  assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', closed]).status, 0);
  try {
    const file = join(folder, 'short.cjs');
    writeFileSync(file, 'console.log(7)');
    const { stdout, stderr, status } = run(['run', file], {}, { cwd: closed });
    assert.deepEqual([stdout, status], ['7\n', 0], stderr);
    assert.ok(stderr.includes(`recording: ${tmpdir()}`), stderr);
    const direct = spawnSync(process.execPath, ['--import', join(root, 'dist', 'auto.js'), file], {
      encoding: 'utf8',
      cwd: closed,
      env: { ...environment, EBB_RECORD: 'full' },
    });
    assert.deepEqual([direct.stdout, direct.status], ['7\n', 0], direct.stderr);
    assert.match(direct.stderr, /^ebb: nothing is recorded: .*short\.ebbrec/);
  } finally {
    spawnSync('umount', [closed]);
  }
});

test('a disk that is full ends the recording, not the program', { skip: !canMount() }, () => {
  const disk = mkdtempSync(join(folder, 'disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
  assert.equal(mounted.status, 0, String(mounted.stderr));
  try {
    const file = join(folder, 'many.cjs');
    const out = join(disk, 'x.ebbrec');
    // The first thousand births take 16 KB: they are there before the rest is too much.
    writeFileSync(
      file,
      `const tf = require(${JSON.stringify(join(root, 'node_modules', '@tensorflow', 'tfjs'))});
       const { statSync } = require('node:fs');
       const turn = () => new Promise(setImmediate);
       const make = (count) => { for (let i = 0; i < count; i++) tf.zeros([i % 999 + 1]); };
       tf.setBackend('cpu').then(async () => {
         make(999);
         while (statSync(${JSON.stringify(out)}).size < 8192) await turn();
         for (let i = 0; i < 40; i++) { make(999); await turn(); }
         console.log('done');
       });`,
    );
    const { stdout, stderr, status } = run(['run', '--mode', 'full', '--out', out, file]);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, 'done\n');
    assert.match(stderr, /^ebb: .* given back/m); // what it shows up to there
    assert.match(stderr, /the recording ends before the program: .*No space left/);
  } finally {
    spawnSync('umount', [disk]);
  }
});

function canMount() {
  if (process.getuid() !== 0) return false;
  const probe = mkdtempSync(join(tmpdir(), 'ebb-mount-'));
  const able = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe]).status === 0;
  if (able) spawnSync('umount', [probe]);
  rmSync(probe, { recursive: true });
  return able;
}

test('names with escape sequences are shown, not obeyed', () => {
  const name = 'esc\u001b[31m\u202e.cjs';
  const file = join(folder, name);
  writeFileSync(
    file,
    `const tf = require(${JSON.stringify(join(root, 'node_modules', '@tensorflow', 'tfjs'))});
     const held = []; globalThis['a\u001b[31mb'] = held;
     tf.setBackend('cpu').then(() => { const timer = setInterval(() => {
       for (let i = 0; i < 20; i++) held.push(tf.zeros([1024, 64]));
       if (held.length > 6000) { clearInterval(timer); }
     }, 5); });`,
  );
  const { stderr } = run(['run', '--out', join(folder, 'esc.ebbrec'), file]);
  assert.match(stderr, /growing/);
  assert.match(stderr, /esc\\x1b\[31m\\u202e\.cjs:4/);
  assert.match(stderr, /held by: global\[a\\x1b\[31mb\] \(Array\)/);
  // eslint-disable-next-line no-control-regex -- that there are none
  assert.doesNotMatch(stderr, /[\x00-\x09\x0b-\x1f\u202e]/);
});

test('a child of the program has a recording of its own', () => {
  const file = join(folder, 'parent.cjs');
  writeFileSync(
    file,
    `const tf = require(${JSON.stringify(join(root, 'node_modules', '@tensorflow', 'tfjs'))});
     const { fork } = require('node:child_process');
     tf.zeros([10]);
     if (process.argv[2] !== 'child') fork(__filename, ['child']);`,
  );
  const { stderr, status } = run(['run', '--out', join(folder, 'parent.ebbrec'), file]);
  assert.equal(status, 0, stderr);
  const files = stderr.match(/recording: \S+/g).map((text) => text.slice(11));
  assert.equal(new Set(files).size, 2, stderr);
  for (const each of files) assert.ok(existsSync(each) && report(each).ended, each);
  assert.ok(readFileSync(files[0]).length > 0);
});
