// `ebb run` on a server and on a training loop, each a minute long with a leak and without: line and holder are named,
// and nothing where nothing leaks. node soak/leaks.mjs [seconds]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [seconds = '60'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'ebb-leaks-'));
let failed = 0;

function expected(name, text, holder) {
  const lines = readFileSync(join(root, 'test', 'leaks', name), 'utf8').split('\n');
  return [
    'ebb: growing +',
    `${name}:${lines.findIndex((line) => line.includes(text)) + 1})`,
    `held by: ${holder} -> [`,
  ];
}

function check(name, leak, wanted) {
  const words = ['run', '--out', join(folder, `${name}.ebbrec`), join(root, 'test', 'leaks', name)];
  const { stderr } = spawnSync(process.execPath, [join(root, 'dist', 'node', 'cli.js'), ...words], {
    encoding: 'utf8',
    env: { ...process.env, LEAK: leak, SECONDS: seconds },
  });
  const missing = wanted.filter((text) => !stderr.includes(text));
  if (missing.length > 0) failed++;
  console.log(`${missing.length === 0 ? 'ok' : `MISSING ${missing}`}: ${name}, leak ${leak}`);
  console.log(stderr.trimEnd());
}

for (const [name, text, holder] of [
  ['server.cjs', 'const features =', 'server.cjs: cache (Map) -> .get("features") (Array)'],
  ['training.mjs', 'const predicted =', 'training.mjs: a variable of train (Array)'],
]) {
  check(name, '1', expected(name, text, holder));
  check(name, '0', ['ebb: flat at ']);
}
rmSync(folder, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
