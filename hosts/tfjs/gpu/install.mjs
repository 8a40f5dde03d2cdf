// Installs what this folder's programs need where it is not there. headless-gl is compiled, which takes minutes, once it
// is asked for.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installIn } from '../scripts/install.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

export function installDawn() {
  installIn(here, '--ignore-scripts');
}

/** Headers of the Node that runs this, if it has brought them along; otherwise node-gyp fetches them. */
function headers() {
  const prefix = join(process.execPath, '..', '..');
  return existsSync(join(prefix, 'include', 'node', 'node.h')) ? [`--nodedir=${prefix}`] : [];
}

export function installGl() {
  installDawn();
  const folder = join(here, 'node_modules', 'gl');
  if (existsSync(join(folder, 'build', 'Release', 'webgl.node'))) return;
  const { status } = spawnSync(
    join(here, 'node_modules', '.bin', 'node-gyp'),
    ['rebuild', '--jobs=max', ...headers()],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status !== 0) throw new Error('gl could not be compiled');
}
