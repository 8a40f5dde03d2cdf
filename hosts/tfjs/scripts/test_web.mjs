// Runs the tests of ebb-tfjs/web, in Node and in browsers, or other ones that take a GPU: node scripts/test_web.mjs [files]
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './cmake.mjs';

const files = process.argv.slice(2);
if (files.length === 0) {
  const names = readdirSync(join(root, 'web', 'test')).filter((name) => name.endsWith('.test.mjs'));
  files.push(...names.map((name) => join('web', 'test', name)));
}
/** A limit for what hangs, in ms. A file counts as a test too, and all of the matrix is one; a call of a page has less. */
const LIMIT = 3_600_000;
const reporter = process.env.EBB_TEST_REPORTER ?? 'spec';
const { status } = spawnSync(
  process.execPath,
  // One file at a time: a browser takes all there is of the machine.
  [
    '--test',
    '--test-concurrency=1',
    `--test-reporter=${reporter}`,
    `--test-timeout=${LIMIT}`,
    ...files,
  ],
  { cwd: root, stdio: 'inherit' },
);
process.exit(status ?? 1);
