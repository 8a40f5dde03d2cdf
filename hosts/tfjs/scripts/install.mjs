// Installs what a folder's package-lock.json lists, where it is not installed yet.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether anything was installed. `flags`: npm's. */
export function installIn(folder, ...flags) {
  const lock = join(folder, 'package-lock.json');
  const installed = join(folder, 'node_modules', '.ebb-installed.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(lock, 'utf8'))
    return false;
  // Not `npm ci`: it misses the packages for other platforms in a lock file that npm itself has written.
  const words = ['install', '--no-save', '--loglevel=error', '--no-audit', '--no-fund', ...flags];
  const { status } = spawnSync('npm', words, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  copyFileSync(lock, installed);
  return true;
}
