// The package under the test runners people have, and through the bundlers: `npm run test:runners`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { here } from './install.mjs';

function run(...words) {
  const env = { ...process.env, CI: '1' };
  delete env.NODE_TEST_CONTEXT; // or node:test below would report to this one
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: here,
    encoding: 'utf8',
    env,
  });
  assert.equal(status, 0, `${words.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

const bin = (name) => join(here, 'node_modules', '.bin', name);
const jest = (pattern) =>
  run(bin('jest'), '--runInBand', '--testMatch', `**/cases/${pattern}.jest.cjs`);

test('jest: a registry and a realm for each file, one process', () =>
  jest('{first,second,matchers}'));
test('jest with resetModules', () => jest('reset'));

for (const pool of ['forks', 'threads', 'vmForks', 'vmThreads']) {
  test(`vitest, pool ${pool}`, () => {
    run(bin('vitest'), 'run', `--pool=${pool}`, '--maxWorkers=1', '--config=vitest.config.mjs');
  });
}
test('vitest, files in one worker', () => {
  run(bin('vitest'), 'run', '--no-isolate', '--maxWorkers=1', '--config=vitest.config.mjs');
});

test('mocha', () => {
  run(bin('mocha'), 'cases/first.mocha.cjs', 'cases/second.mocha.cjs', '--exit');
});
test('node:test', () => run('--test', 'cases/one.node.mjs'));
test('vm contexts with registries of their own', () => {
  assert.match(run('cases/realm.cjs'), /^ok$/m);
});
test('two versions of TensorFlow.js', () => {
  assert.match(run('cases/versions.cjs'), /^ok$/m);
});
