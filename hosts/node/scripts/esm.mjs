// Serves the package to `import` as well: the same instance, the same names, the same types.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const source = readFileSync(join(dist, 'index.js'), 'utf8');
const names = [
  ...new Set(
    [...source.matchAll(/Object\.defineProperty\(exports, "(\w+)"/g)].map(([, name]) => name),
  ),
].filter((name) => name !== '__esModule');
if (names.length === 0) throw new Error('no exports found in dist/index.js');
writeFileSync(
  join(dist, 'index.mjs'),
  `import ebb from './index.js';\nexport const { ${names.join(', ')} } = ebb;\nexport default ebb;\n`,
);
writeFileSync(
  join(dist, 'index.d.mts'),
  `export * from './index.js';\nimport * as ebb from './index.js';\nexport default ebb;\n`,
);
chmodSync(join(dist, 'cli.js'), 0o755);
