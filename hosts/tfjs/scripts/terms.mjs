// The terms of what a package carries, or has linked in: as Debian's packages and the libraries' own have them.
import { copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tools = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'build', 'tools');

const EVERYWHERE = {
  'highway.txt': '/usr/share/doc/libhwy-dev/copyright',
  'fmt.txt': '/usr/share/doc/libfmt-dev/copyright',
  'nlohmann-json.txt': '/usr/share/doc/nlohmann-json3-dev/copyright',
  'kissfft.txt': '/usr/share/doc/libkissfft-dev/copyright',
};
const OPENMP = {
  'libgomp.txt': '/usr/share/doc/libgomp1/copyright',
  'GPL-3.txt': '/usr/share/common-licenses/GPL-3', // which the one above refers to, with its exception
};
/** Where the addon has pictures (EBB_NODE_PICTURES). */
const PICTURES = {
  'libjpeg-turbo.txt': '/usr/share/doc/libjpeg62-turbo-dev/copyright',
  'libpng.txt': '/usr/share/doc/libpng-dev/copyright',
  'zlib.txt': '/usr/share/doc/zlib1g-dev/copyright',
};
const ONEDNN = { onednn: join(tools, 'onednn', 'share') };

const OF = {
  'linux-x64': { ...EVERYWHERE, ...OPENMP, ...ONEDNN, ...PICTURES },
  'linux-arm64': { ...EVERYWHERE, ...OPENMP },
  'linux-x64-musl': EVERYWHERE,
  'linux-arm64-musl': EVERYWHERE,
  cuda: { 'cuda-runtime.txt': join(tools, 'cuda', 'License.txt') }, // libcudart_static is linked in
};

export function copyTerms(folder, kind) {
  mkdirSync(folder, { recursive: true });
  for (const [name, path] of Object.entries(OF[kind])) {
    if (!existsSync(path)) throw new Error(`${path} is missing: the package must carry it.`);
    if (name.includes('.')) copyFileSync(path, join(folder, name));
    else cpSync(path, join(folder, name), { recursive: true });
  }
}
