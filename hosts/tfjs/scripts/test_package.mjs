// Packs the package, installs it beside TensorFlow.js in an empty folder, and uses it there in each way.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const TFJS = ['@tensorflow/tfjs', '@tensorflow/tfjs-backend-wasm'];
const OF_THE_MACHINE = /^(libc|libm|libpthread|libdl|ld-linux[\w-]*)\.so/;

const TERMS = [
  'onednn/LICENSE',
  'onednn/THIRD-PARTY-PROGRAMS',
  'highway.txt',
  'libgomp-libstdc++-libgcc.txt',
  'GPL-3.txt',
  'fmt.txt',
  'nlohmann-json.txt',
];

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

function install(folder) {
  const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], options);
  const tarball = join(folder, packed.trim().split('\n').at(-1));
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  const wanted = TFJS.map((name) => `${name}@${devDependencies[name]}`);
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags, tarball, ...wanted], { ...options, cwd: project });
  writeFileSync(join(project, 'app.js'), PROGRAM);
  writeFileSync(join(project, 'typed.mjs'), TYPED);
  writeFileSync(join(project, 'backend.js'), BACKEND);
  return project;
}

function librariesOf(addon) {
  const lines = execFileSync('readelf', ['-d', addon], { encoding: 'utf8' });
  return [...lines.matchAll(/NEEDED.*\[(.*)\]/g)].map(([, name]) => name);
}

function use(project) {
  const output = (...words) => {
    const { stdout, stderr } = spawnSync(words[0], words.slice(1), {
      cwd: project,
      encoding: 'utf8',
    });
    return (stdout + stderr).trim();
  };
  const node = (...words) => output(process.execPath, '--no-deprecation', ...words);
  const prebuilt = join(project, 'node_modules', 'ebb-tfjs', 'prebuilt');
  const carried = readdirSync(prebuilt);
  const others = librariesOf(join(prebuilt, 'ebb_node.node')).filter(
    (name) => !OF_THE_MACHINE.test(name) && !carried.includes(name),
  );
  check('the addon needs only the C library and what it carries', others.join(), '');
  const terms = readdirSync(join(prebuilt, 'licenses'), { recursive: true });
  check('the terms of what it carries', TERMS.filter((name) => !terms.includes(name)).join(), '');
  const gomp = readFileSync(join(prebuilt, 'licenses', 'libgomp-libstdc++-libgcc.txt'), 'utf8');
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
  check('import', lastLine(node('typed.mjs')), '7 1073741824 0 true');
}

/** TensorFlow.js greets its users first. */
const lastLine = (text) => text.split('\n').at(-1);

const folder = mkdtempSync(join(tmpdir(), 'ebb-tfjs-'));
try {
  use(install(folder));
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`# pass ${passed}\n# fail ${failed}`);
process.exit(failed === 0 ? 0 : 1);
