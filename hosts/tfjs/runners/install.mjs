// Installs the runners and bundlers beside this file where they are not, and the package itself as a link.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = fileURLToPath(new URL('.', import.meta.url));
const lock = join(here, 'package-lock.json');
const installed = join(here, 'node_modules', '.ebb-installed.json');

const isInstalled = () =>
  existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(lock, 'utf8');

export function install() {
  if (isInstalled()) return;
  // Not `npm ci`: it misses the packages for other platforms in a lock file that npm itself has written.
  const flags = ['--no-save', '--loglevel=error', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['install', ...flags], { cwd: here, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  const link = join(here, 'node_modules', 'ebb-tfjs');
  rmSync(link, { force: true });
  symlinkSync(join(here, '..'), link);
  copyFileSync(lock, installed);
}
