// The project's CMake, for this package: the addon is a target of the tree that libebb is built in.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const project = join(root, '..', '..');
const preset = process.env.EBB_PRESET ?? 'release';
export const build = join(project, 'build', preset);

function run(...words) {
  const { status, error } = spawnSync('cmake', words, { cwd: project, stdio: 'inherit' });
  if (error) throw new Error(`cmake is needed to build the addon: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

export function buildTarget(...targets) {
  run('--preset', preset, '--log-level=WARNING', '-DEBB_BUILD_NODE=ON');
  run('--build', build, '--target', ...targets, '-j', String(availableParallelism()));
}
