// Builds ebb-tfjs/web: dist/web/index.mjs for bundlers and module scripts, dist/web/ebb.js for <script>, and beside
// them the core, ebb_core.wasm, from a build with preset wasm if there is one.
//
// The sources are those of Node. A module of src that needs Node has one of the same exports in src/web; any other
// import of Node's makes this fail.
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');
const out = join(root, 'dist', 'web');

const IN_A_PAGE = {
  'node/async_region': 'web/async_region',
  'node/collector': 'web/collector',
  'node/files': 'web/files',
  'node/locate': 'web/locate',
  'node/promises': 'web/promises',
  'node/warnings': 'web/warnings',
  'books/sites': 'web/sites',
};

const inAPage = {
  name: 'in a page',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const module = relative(source, resolve(resolveDir, path));
      const other = IN_A_PAGE[module];
      if (other !== undefined) return { path: join(source, `${other}.ts`) };
      if (module.startsWith('node/'))
        return { errors: [{ text: `${module} needs Node and has no counterpart in src/web` }] };
    });
  },
};

const common = {
  entryPoints: [join(source, 'web', 'index.ts')],
  bundle: true,
  minify: true,
  target: ['es2022'],
  platform: 'browser',
  plugins: [inAPage],
  legalComments: 'none',
};
const banner = (url) => ({ js: `const EBB_CORE_URL = () => ${url};` });

mkdirSync(out, { recursive: true });
await build({
  ...common,
  format: 'esm',
  outfile: join(out, 'index.mjs'),
  banner: banner(`new URL('./ebb_core.wasm', import.meta.url).href`),
});
await build({
  ...common,
  format: 'iife',
  globalName: 'ebb',
  outfile: join(out, 'ebb.js'),
  banner: {
    js: `var EBB_CORE_URL = ((script) => () => new URL('ebb_core.wasm', script).href)(typeof document === 'object' && document.currentScript ? document.currentScript.src : location.href);`,
  },
});
writeFileSync(join(out, 'index.d.mts'), `export * from './index.js';\n`);
const core = join(
  root,
  '..',
  '..',
  'build',
  'wasm',
  'hosts',
  'tfjs',
  'web',
  'core',
  'ebb_core.wasm',
);
if (existsSync(core)) copyFileSync(core, join(out, 'ebb_core.wasm'));
