// Runs the tests on the Node that runs this: node scripts/test.mjs [files]
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const files = process.argv.slice(2);
if (files.length === 0) {
  const names = readdirSync(join(root, 'test')).filter((name) => name.endsWith('.test.mjs'));
  files.push(...names.map((name) => join('test', name)));
}
const reporter = process.env.EBB_TEST_REPORTER ?? 'spec';
const { status } = spawnSync(
  process.execPath,
  ['--test', `--test-reporter=${reporter}`, '--test-timeout=1200000', ...files],
  { cwd: root, stdio: 'inherit' },
);
process.exit(status ?? 1);
