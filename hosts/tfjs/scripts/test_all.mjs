// Runs the tests with one binary on Node 20, 22, 24 and 26, as npm's package `node` carries them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const VERSIONS = (process.env.EBB_NODES ?? '20,22,24,26').split(',');

function install(version) {
  const folder = join(root, 'build', 'nodes', version);
  const binary = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const { status } = spawnSync('npm', ['install', '--no-save', `node@${version}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm could not install node@${version}`);
  return binary;
}

function run(version) {
  const binary = install(version);
  const { status, stdout } = spawnSync(binary, [join(root, 'scripts', 'test.mjs')], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, EBB_TEST_REPORTER: 'tap' },
    maxBuffer: 2 ** 28,
  });
  const count = (word) => stdout.match(new RegExp(`^# ${word} (\\d+)`, 'm'))?.[1] ?? '?';
  const exact = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`Node ${exact}: ${count('pass')} passed, ${count('fail')} failed`);
  if (status !== 0)
    console.log(
      stdout
        .split('\n')
        .filter((line) => /^ *not ok/.test(line))
        .join('\n'),
    );
  return status === 0;
}

const failed = VERSIONS.filter((version) => !run(version));
process.exit(failed.length === 0 ? 0 : 1);
