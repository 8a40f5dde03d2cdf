// Writes src/shared.ts: what the addon's headers and ebb.h say once, as TypeScript.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './cmake.mjs';

const withoutComments = (text) => text.replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
const read = (...path) => withoutComments(readFileSync(join(root, ...path), 'utf8'));
const abi = read('..', '..', 'include', 'ebb.h');
const shared = read('addon', 'shared.hpp');

const known = { EBB_MAX_RANK: Number(/#define EBB_MAX_RANK (\d+)/.exec(abi)[1]) };
const valueOf = (text) =>
  Function(...Object.keys(known), `return (${text})`)(...Object.values(known));

/** The enumerators of a C++ enum, each with its number. */
function enumerators(body) {
  let next = 0;
  return body
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => {
      const [name, value] = one.split(/\s*=\s*/);
      known[name] = value === undefined ? next : valueOf(value);
      next = known[name] + 1;
      return [name, known[name]];
    });
}

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

function columns() {
  const body = /typedef struct ebb_memory \{([^]*?)\} ebb_memory;/.exec(abi)[1];
  const fields = [...body.matchAll(/uint64_t ([^;]*);/g)].flatMap(([, names]) => names.split(','));
  return fields.map((name) => camel(name.trim()));
}

const lines = ['// Made by scripts/shared.mjs of addon/shared.hpp and include/ebb.h.', ''];
for (const [, name, body] of shared.matchAll(/enum (\w+) : [\w:]+ \{([^}]*)\}/g)) {
  const entries = enumerators(body).map(([entry, value]) => `  ${entry.slice(1)} = ${value},`);
  lines.push(`export const enum ${name} {`, ...entries, '}', '');
}
lines.push(
  '/** Axes that a tensor of the core has at most. */',
  `export const MOST_AXES = ${known.EBB_MAX_RANK};`,
  `export const VERSION = '${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}';`,
  '/** The same number in the addon, or it was built of other headers. */',
  `export const LAYOUT = ${valueOf(/kLayout =([^;]*);/.exec(shared)[1])};`,
  '',
  '/** The counters of ebb_memory, in its order. */',
  `export const COLUMNS = [\n${columns()
    .map((name) => `  '${name}',`)
    .join('\n')}\n] as const;`,
  '',
);
const file = join(root, 'src', 'shared.ts');
const text = lines.join('\n');
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
