// The specs of tfjs-layers, -converter and -data, which their npm packages leave out, from a checkout of TensorFlow.js:
//
//   node specs/sources.mjs FOLDER      (make specs SOURCES=FOLDER)
//
// Backends cpu and ebb, reclaim off and on (as in run.mjs). What passes on cpu without Ebb must pass in every other run,
// but for what may_differ.mjs gives a reason.
// The sources under test are the checkout's, all of TensorFlow.js below them is the one installed here. A file of specs
// whose imports are not installed is left out, and named.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { counts, fault, faultCount, printCounts } from './compare.mjs';
import { refusal } from './may_differ.mjs';
import { bundle, here, out, start } from './runs.mjs';

const PARTS = ['tfjs-layers', 'tfjs-converter', 'tfjs-data'];
const BACKENDS = ['cpu', 'ebb'];
const MODES = ['off', 'on'];
/** Modules of which there must be one copy, whatever the checkout has installed. */
const SHARED = ['tfjs-core', 'tfjs-backend-cpu'].map((name) => `@tensorflow/${name}`);
/** jasmine_util puts the backend it tests on, and its flags, between the suite and the spec. */
const ENVIRONMENT = / (cpu|ebb) \{\} /;

const modules = join(here, '..', 'node_modules');

function specFiles(folder) {
  return readdirSync(join(folder, 'src'), { recursive: true })
    .filter((file) => file.endsWith('_test.ts'))
    .map((file) => join(folder, 'src', file))
    .sort();
}

function writeEntry(part, files) {
  mkdirSync(out, { recursive: true });
  const entry = join(out, `${part}_entry.mjs`);
  const imports = [join(here, 'sources_environment.mjs'), ...files];
  writeFileSync(entry, imports.map((file) => `import ${JSON.stringify(file)};\n`).join(''));
  return entry;
}

/** Lists of operations that tfjs-converter's build makes modules of. */
function operationLists(folder) {
  const lists = join(folder, 'tfjs-converter', 'python', 'tensorflowjs', 'op_list');
  return {
    name: 'operation-lists',
    setup(build) {
      build.onResolve({ filter: /\/op_list\/\w+$/ }, ({ path }) => {
        const file = join(lists, `${basename(path)}.json`);
        return existsSync(file) ? { path: file, namespace: 'operation-list' } : undefined;
      });
      build.onLoad({ filter: /.*/, namespace: 'operation-list' }, ({ path }) => ({
        contents: `export const json = ${readFileSync(path, 'utf8')};`,
      }));
    },
  };
}

/** Files of specs that import what cannot be found; anything else that is wrong is thrown. */
function unresolved(failure, files) {
  const missing = new Map();
  for (const { text, location } of failure.errors ?? []) {
    const file = files.find((each) => location && each === resolve(location.file));
    if (!file || !text.startsWith('Could not resolve')) throw failure;
    missing.set(file, text.replace(/^Could not resolve /, ''));
  }
  if (missing.size === 0) throw failure;
  return missing;
}

async function bundlePart(folder, part) {
  let files = specFiles(join(folder, part));
  const leftOut = new Map();
  for (;;) {
    if (files.length === 0) throw new Error(`${part}: no file of specs can be bundled`);
    try {
      const alias = Object.fromEntries(SHARED.map((name) => [name, join(modules, name)]));
      const plugins = [operationLists(folder)];
      const options = { alias, plugins, nodePaths: [modules], logLevel: 'silent' };
      return { file: await bundle(writeEntry(part, files), part, options), files, leftOut };
    } catch (failure) {
      const missing = unresolved(failure, files);
      missing.forEach((why, file) => leftOut.set(file, why));
      files = files.filter((file) => !missing.has(file));
    }
  }
}

const plain = (name) => name.replace(ENVIRONMENT, ' ');

/** What passed in the run that counts, and does not in another that has it. */
function compare(first, other, title) {
  const passed = Object.entries(first.specs).filter(([, { status }]) => status === 'passed');
  const should = new Set(passed.map(([name]) => plain(name)));
  for (const [name, { status, why }] of Object.entries(other.specs)) {
    if (status !== 'failed' || !should.has(plain(name))) continue;
    const reason = refusal(plain(name), why);
    if (reason !== undefined) console.log(`  differs: ${plain(name)}: ${reason}`);
    else fault(`${title}: ${name}\n    ${why.join('\n    ')}`);
  }
}

async function runPart(folder, part) {
  const { file, files, leftOut } = await bundlePart(folder, part);
  const { version } = JSON.parse(readFileSync(join(folder, part, 'package.json'), 'utf8'));
  console.log(`${part} ${version}: ${files.length} files of specs`);
  leftOut.forEach((why, path) => console.log(`  left out: ${relative(folder, path)}: ${why}`));
  const runs = start(file, BACKENDS, MODES);
  const first = await runs.cpu.off;
  for (const backend of BACKENDS) {
    for (const mode of MODES) {
      const result = await runs[backend][mode];
      const where = `${part} on ${backend}`;
      printCounts(where, mode, result);
      const title = `${where}, reclaim ${mode}`;
      if (counts(result).passed === 0) fault(`${title}: nothing passed`);
      if (result !== first) compare(first, result, title);
    }
  }
}

const folder = process.argv[2] && resolve(process.argv[2]);
const parts = PARTS.filter((part) => folder && existsSync(join(folder, part, 'src')));
if (parts.length === 0) {
  console.error(
    `${folder ?? 'no folder'}: expected a checkout of TensorFlow.js, with ${PARTS.join(', ')}`,
  );
  process.exit(2);
}
for (const part of parts) await runPart(folder, part);
process.exit(faultCount() === 0 ? 0 : 1);
