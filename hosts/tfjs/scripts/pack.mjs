// Around `npm pack`: puts what the package carries besides dist/ into it (`before`), and takes it away again
// (`after`), since a prebuilt addon would hide the one that is built.
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const oneDnn = join(root, '..', '..', 'build', 'tools', 'onednn');
const prebuilt = join(root, 'prebuilt');
const license = join(root, 'LICENSE');

/** What travels along, or is part of the addon, with the terms that go with it: as Debian's packages have them. */
const TERMS = {
  'highway.txt': '/usr/share/doc/libhwy1/copyright',
  'libgomp-libstdc++-libgcc.txt': '/usr/share/doc/libgomp1/copyright',
  'GPL-3.txt': '/usr/share/common-licenses/GPL-3', // which the one above refers to, with its exception
  'fmt.txt': '/usr/share/doc/libfmt-dev/copyright',
  'nlohmann-json.txt': '/usr/share/doc/nlohmann-json3-dev/copyright',
};

function copyTerms(folder) {
  cpSync(join(oneDnn, 'share'), join(folder, 'onednn'), { recursive: true });
  for (const [name, path] of Object.entries(TERMS)) {
    if (!existsSync(path)) throw new Error(`${path} is missing: the package must carry it.`);
    copyFileSync(path, join(folder, name));
  }
}

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
  copyTerms(join(prebuilt, 'licenses'));
  copyFileSync(join(root, '..', '..', 'LICENSE'), license);
}
