// Serves the package to `import` as well: the same instance, the same names, the same types.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
/** What a compiled file exports, itself and of the files whose exports it takes over. */
function exportsOf(file) {
  const source = readFileSync(join(dist, file), 'utf8');
  const own = [...source.matchAll(/Object\.defineProperty\(exports, "(\w+)"/g)];
  const others = [...source.matchAll(/__exportStar\(require\("\.\/(\w+)"\)/g)];
  return [...own.map(([, name]) => name), ...others.flatMap(([, name]) => exportsOf(`${name}.js`))];
}
const names = [...new Set(exportsOf('index.js'))].filter((name) => name !== '__esModule');
if (names.length === 0) throw new Error('no exports found in dist/index.js');
writeFileSync(
  join(dist, 'index.mjs'),
  `import ebb from './index.js';\nexport const { ${names.join(', ')} } = ebb;\nexport default ebb;\n`,
);
writeFileSync(
  join(dist, 'index.d.mts'),
  `export * from './index.js';\nimport * as ebb from './index.js';\nexport default ebb;\n`,
);
// The names of TensorFlow.js are found by loading it; nothing of it is built for `import` and Node.
const require = createRequire(import.meta.url);
const backend = ['io', 'node', 'version', ...Object.keys(require('@tensorflow/tfjs'))];
const unique = [...new Set(backend)].filter((name) => name !== 'default' && name !== '__esModule');
writeFileSync(
  join(dist, 'backend', 'index.mjs'),
  `import tf from './index.js';\nexport const {\n  ${unique.join(',\n  ')},\n} = tf;\nexport default tf;\n`,
);
writeFileSync(
  join(dist, 'backend', 'index.d.mts'),
  `export * from './index.js';\nimport * as tf from './index.js';\nexport default tf;\n`,
);
// vitest is an ES module; its `expect` is extended from one.
writeFileSync(
  join(dist, 'testing', 'vitest.mjs'),
  `import { expect } from 'vitest';
import '../node/addon.js';
import testing from './matchers.js';
expect.extend(testing.matchers);
`,
);
writeFileSync(
  join(dist, 'testing', 'vitest.d.mts'),
  `import 'vitest';
import type { EbbMatchers } from './matchers.js';
declare module 'vitest' {
  interface Assertion<T = any> extends EbbMatchers {}
}
`,
);
writeFileSync(
  join(dist, 'testing', 'node_test.mjs'),
  `import checks from './node_test.js';
export const { leavesNoTensors, staysWithin } = checks;
`,
);
writeFileSync(join(dist, 'testing', 'node_test.d.mts'), `export * from './node_test.js';\n`);
chmodSync(join(dist, 'node', 'cli.js'), 0o755);
