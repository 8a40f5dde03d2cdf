// The terms of what a package carries, or has linked in: packaging/components.json says what that is.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const components = JSON.parse(readFileSync(join(project, 'packaging', 'components.json'), 'utf8'));

/** `platform`: linux-x64, cuda-linux-x64 */
export function copyTerms(folder, platform) {
  mkdirSync(folder, { recursive: true });
  const carried = components.filter((component) => component.in.includes(`npm ${platform}`));
  if (carried.length === 0)
    throw new Error(`packaging/components.json has nothing for ${platform}`);
  for (const [name, path] of carried.flatMap(({ terms }) => Object.entries(terms))) {
    const from = resolve(project, path);
    if (!existsSync(from)) throw new Error(`${from} is missing: the package must carry it.`);
    if (statSync(from).isDirectory()) cpSync(from, join(folder, name), { recursive: true });
    else copyFileSync(from, join(folder, name));
  }
}
