// The package under test runners and through bundlers: runners/. They are installed when they are needed first.
import { spawnSync } from 'node:child_process';
import { here, install } from '../runners/install.mjs';

install();
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-reporter=${process.env.EBB_TEST_REPORTER ?? 'spec'}`,
    'matrix.test.mjs',
    'bundlers.test.mjs',
  ],
  { cwd: here, stdio: 'inherit' },
);
process.exit(status ?? 1);
