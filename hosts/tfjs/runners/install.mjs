// Installs the runners and bundlers beside this file where they are not, and the package itself as a link.
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installIn } from '../scripts/install.mjs';

export const here = fileURLToPath(new URL('.', import.meta.url));

export function install() {
  if (!installIn(here)) return;
  const link = join(here, 'node_modules', 'ebb-tfjs');
  rmSync(link, { force: true });
  symlinkSync(join(here, '..'), link);
}
