// Packs the package, installs it beside TensorFlow.js in an empty folder, and uses it there in each way.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './cmake.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const TFJS = ['@tensorflow/tfjs', '@tensorflow/tfjs-backend-wasm'];
const TERMS = [
  'onednn/LICENSE',
  'onednn/THIRD-PARTY-PROGRAMS',
  'highway.txt',
  'libgomp.txt',
  'GPL-3.txt',
  'fmt.txt',
  'nlohmann-json.txt',
  'cli11.txt',
  'protozero.txt',
  'kissfft.txt',
  'libjpeg-turbo.txt',
  'libpng.txt',
  'zlib.txt',
];
const NATIVE = 'ebb-tfjs-linux-x64';

const PROGRAM = `
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');
tf.setBackend('wasm').then(() => {
  for (let i = 0; i < 20000; i++) tf.add(tf.tensor1d([i]), 1);
  console.log(tf.backend().constructor.name, tf.memory().numTensors < 15000 ? 'flat' : 'growing');
});`;
const TYPED = `
import '@tensorflow/tfjs';
import ebb, { budget, memory, reclaim, tidy } from 'ebb-tfjs';
reclaim.on();
console.log(await tidy(async () => 7), budget('1GB'), memory().created, ebb.reclaim.isOn);`;

/** Every library that the package carries is used: products and convolutions are oneDNN's. */
const BACKEND = `
const tf = require('ebb-tfjs/backend');
const x = tf.ones([1, 8, 8, 4]);
const y = tf.conv2d(x, tf.ones([3, 3, 4, 16]), 1, 'valid').sum();
const z = tf.matMul(tf.ones([64, 64]), tf.ones([64, 64])).max();
console.log(tf.backend().constructor.name, y.dataSync()[0], z.dataSync()[0]);`;

let passed = 0;
let failed = 0;
function check(title, actual, expected) {
  const ok = actual === expected;
  if (ok) passed++;
  else failed++;
  console.log(
    `${ok ? 'ok' : 'not ok'} ${title}${ok ? '' : `: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`}`,
  );
}

const quiet = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };

/** The tarballs, as `make dist` makes them. */
function pack(folder) {
  const native = join(folder, 'native');
  const words = ['--install', build, '--component', 'node', '--prefix', native];
  execFileSync('cmake', words, quiet);
  execFileSync(
    process.execPath,
    [join(root, 'scripts', 'pack.mjs'), join(folder, 'npm'), `linux-x64=${native}`],
    quiet,
  );
  const place = join(folder, 'npm', 'linux-x64');
  return readdirSync(place).map((name) => join(place, name));
}

function install(folder, name, tarballs) {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  const wanted = TFJS.map((name) => `${name}@${devDependencies[name]}`);
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags, ...tarballs, ...wanted], { ...quiet, cwd: project });
  writeFileSync(join(project, 'app.js'), PROGRAM);
  writeFileSync(join(project, 'typed.mjs'), TYPED);
  writeFileSync(join(project, 'backend.js'), BACKEND);
  return project;
}

function runner(project) {
  const output = (...words) => {
    const { stdout, stderr } = spawnSync(words[0], words.slice(1), {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, EBB_ADDON: undefined },
    });
    return (stdout + stderr).trim();
  };
  return { output, node: (...words) => output(process.execPath, '--no-deprecation', ...words) };
}

function use(project) {
  const { node, output } = runner(project);
  const native = join(project, 'node_modules', NATIVE);
  const checked = output('python3', join(root, '..', '..', 'tools', 'check_symbols.py'), native);
  check('what it needs of a machine', lastLine(checked), 'symbols: 5 files, 0 faults');
  const terms = readdirSync(join(native, 'licenses'), { recursive: true });
  check('the terms of what it carries', TERMS.filter((name) => !terms.includes(name)).join(), '');
  const gomp = readFileSync(join(native, 'licenses', 'libgomp.txt'), 'utf8');
  check('with the exception', /GCC RUNTIME LIBRARY EXCEPTION/i.test(gomp), true);
  const bare = spawnSync('env', ['-i', process.execPath, 'backend.js'], {
    cwd: project,
    encoding: 'utf8',
  });
  check(
    'the backend, nothing but Node',
    lastLine((bare.stdout + bare.stderr).trim()),
    'EbbBackend 20736 64',
  );
  check('without Ebb', lastLine(node('app.js')), 'BackendWasm growing');
  check('--import', lastLine(node('--import', 'ebb-tfjs/auto', 'app.js')), 'BackendWasm flat');
  check('--require', lastLine(node('--require', 'ebb-tfjs/auto', 'app.js')), 'BackendWasm flat');
  check(
    'npx ebb',
    lastLine(output(join('node_modules', '.bin', 'ebb'), 'app.js')),
    'BackendWasm flat',
  );
  const recorded = output(join('node_modules', '.bin', 'ebb'), 'run', 'app.js');
  check(
    'npx ebb run',
    /^BackendWasm flat$/m.test(recorded) && /recording: .*app\.ebbrec/.test(recorded),
    true,
  );
  const read = output(join('node_modules', '.bin', 'ebb'), 'report', 'app.ebbrec');
  check('npx ebb report', /^ebb: .*app\.js, .* events/.test(read), true);
  check('import', lastLine(node('typed.mjs')), '7 1073741824 0 true');
}

/** A platform that has no native part: npm has left the package out, as it does by os and cpu. */
function useWithoutNative(project) {
  const { node, output } = runner(project);
  rmSync(join(project, 'node_modules', NATIVE), { recursive: true });
  writeFileSync(
    join(project, 'elsewhere.cjs'),
    `Object.defineProperty(process, 'platform', { value: 'sunos' });`,
  );
  const auto = node('-r', './elsewhere.cjs', '--import', 'ebb-tfjs/auto', 'app.js');
  const warnings = auto.match(/EbbWarning/g) ?? [];
  check('auto warns once', warnings.length, 1);
  check(
    'and says why',
    /no native part for sunos-x64; there is one for linux-x64/.test(auto),
    true,
  );
  check('and the program runs', /^BackendWasm growing$/m.test(auto), true);
  const backend = node('-r', './elsewhere.cjs', 'backend.js');
  check(
    'the backend throws',
    /Cannot run: there is no native part for sunos-x64/.test(backend),
    true,
  );
  const left = node('--import', 'ebb-tfjs/auto', 'app.js');
  check('left out', /the package ebb-tfjs-linux-x64 is not installed/.test(left), true);
  const tool = output(join('node_modules', '.bin', 'ebb'), 'app.js');
  check('npx ebb runs it too', /^BackendWasm growing$/m.test(tool), true);
}

/** TensorFlow.js greets its users first. */
const lastLine = (text) => text.split('\n').at(-1);

const folder = mkdtempSync(join(tmpdir(), 'ebb-tfjs-'));
try {
  const project = install(folder, 'project', pack(folder));
  use(project);
  useWithoutNative(project);
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`# pass ${passed}\n# fail ${failed}`);
process.exit(failed === 0 ? 0 : 1);
