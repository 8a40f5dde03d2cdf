// `ebb run` on a server and on a training loop, with a leak and without: line and holder are named within a minute of the
// start of `ebb run`, and nothing is where nothing leaks. node soak/leaks.mjs [seconds of a clean run]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [seconds = '60'] = process.argv.slice(2);
const LEAKING_SECONDS = '45'; // leaves time to start, to find the holder and to say so
const MOST_SECONDS = 60;
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
  const start = performance.now();
  const { stderr } = spawnSync(process.execPath, [join(root, 'dist', 'node', 'cli.js'), ...words], {
    encoding: 'utf8',
    env: { ...process.env, LEAK: leak, SECONDS: leak === '1' ? LEAKING_SECONDS : seconds },
  });
  const taken = (performance.now() - start) / 1000;
  const faults = wanted.filter((text) => !stderr.includes(text)).map((text) => `no ${text}`);
  if (leak === '1' && taken > MOST_SECONDS) faults.push('too late');
  if (leak === '0' && stderr.includes('growing')) faults.push('a leak that there is not');
  if (faults.length > 0) failed++;
  console.log(
    `${faults.join(', ') || 'ok'}: ${name}, leak ${leak}, all said ${taken.toFixed(1)} s after its start`,
  );
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
