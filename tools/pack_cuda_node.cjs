// Copies to a folder what hosts/tfjs needs to run tfjs-core's specs and its own GPU tests, and nothing else:
//   node tools/pack_cuda_node.cjs FOLDER
// The modules are those that a run of them loads.
const { cpSync, existsSync, mkdirSync, realpathSync } = require('node:fs');
const { dirname, join, relative } = require('node:path');

const root = join(__dirname, '..', 'hosts', 'tfjs');
const folder = process.argv[2];

function copy(path) {
  const to = join(folder, relative(root, path));
  mkdirSync(dirname(to), { recursive: true });
  cpSync(path, to, { recursive: true, dereference: true });
}

/** The package.json files on the way to a module: resolution reads them. */
function manifests(path) {
  const found = [];
  for (let at = dirname(path); at.startsWith(root); at = dirname(at)) {
    const manifest = join(at, 'package.json');
    if (existsSync(manifest)) found.push(manifest);
  }
  return found;
}

process.env.EBB_DEVICE = '';
const load = require('node:module').createRequire(join(root, 'specs', 'child.cjs'));
load('jasmine-core').boot(true);
load('../dist/backend');
load('..');
const wasm = load.resolve('@tensorflow/tfjs-backend-wasm');
const modules = Object.keys(require.cache).filter((path) => path.startsWith(realpathSync(root)));
const files = new Set([wasm, ...modules].flatMap((path) => [path, ...manifests(path)]));
for (const file of files) copy(file);
for (const path of ['dist', 'specs/child.cjs', 'specs/session.cjs', 'build/specs/specs.cjs', 'package.json']) copy(join(root, path));
for (const library of ['ebb_node.node', 'libhwy.so.1', 'libdnnl.so.3', 'libgomp.so.1']) {
  const path = join(root, 'build', library);
  if (existsSync(path)) copy(path);
}
