// The project's CMake, for this package.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
export const build = join(root, 'build', 'cmake');
const type = process.env.EBB_BUILD_TYPE ?? 'Release';

function run(...words) {
  const { status, error } = spawnSync('cmake', words, { stdio: 'inherit' });
  if (error) throw new Error(`cmake is needed to build the addon: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

export function buildTarget(target) {
  run('-S', root, '-B', build, `-DCMAKE_BUILD_TYPE=${type}`);
  run('--build', build, '--target', target, '-j', String(availableParallelism()));
}
