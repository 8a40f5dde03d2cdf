// Builds the core as WebAssembly (preset wasm of the repository) and puts it into dist/web.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './cmake.mjs';

const cwd = join(root, '..', '..');
const run = (...words) =>
  execFileSync('cmake', words, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
run('--preset', 'wasm', '--log-level=WARNING');
run('--build', '--preset', 'wasm', '--target', 'ebb_core');
await import('./web.mjs');
