// Around `npm pack`: puts what the package carries besides dist/ into it (`before`), and takes it away again
// (`after`), since a prebuilt addon would hide the one that is built.
import { copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const oneDnn = join(root, '..', '..', 'build', 'tools', 'onednn');
const prebuilt = join(root, 'prebuilt');
const license = join(root, 'LICENSE');

rmSync(prebuilt, { recursive: true, force: true });
rmSync(license, { force: true });
if (process.argv[2] === 'before') {
  mkdirSync(prebuilt);
  // The addon finds what it needs beside itself.
  for (const built of ['ebb_node.node', 'libhwy.so.1']) {
    copyFileSync(join(root, 'build', built), join(prebuilt, built));
  }
  for (const library of ['libdnnl.so.3', 'libgomp.so.1']) {
    copyFileSync(join(oneDnn, 'lib', library), join(prebuilt, library));
  }
  cpSync(join(oneDnn, 'share'), join(prebuilt, 'licenses', 'onednn'), { recursive: true });
  copyFileSync(join(root, '..', '..', 'LICENSE'), license);
}
