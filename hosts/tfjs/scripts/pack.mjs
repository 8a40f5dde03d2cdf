// Packs what npm gets into FOLDER: node scripts/pack.mjs FOLDER [PLATFORM=NATIVE]... [cuda-PLATFORM=NATIVE]...
//
// `ebb-tfjs` is JavaScript, types and the tool; the native part of each platform is a package of its own, which names
// its platform and which ebb-tfjs has as an optional dependency, so that npm installs the one that fits. NATIVE is what
// `cmake --install --component node` leaves (or `--component plugin`): the addon and what it loads from beside itself.
// For each platform FOLDER gets a folder in which `npm i ./*.tgz` installs both.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyTerms } from './terms.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const project = join(root, '..', '..');
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { CUDA_PLATFORMS, PLATFORMS } = createRequire(import.meta.url)(
  join(root, 'dist', 'node', 'platforms.js'),
);

const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

function emptied(...path) {
  const folder = join(...path);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** What a package says of itself, whichever of them it is. */
function common() {
  const { version, license, homepage, repository } = own;
  return { version, license, ...(homepage && { homepage }), ...(repository && { repository }) };
}

/** linux-x64-musl -> { os: ['linux'], cpu: ['x64'], libc: ['musl'] } */
function requirements(platform) {
  const [os, cpu, libc = 'glibc'] = platform.split('-');
  return { os: [os], cpu: [cpu], ...(os === 'linux' && { libc: [libc] }) };
}

function stageJavaScript(stage) {
  const manifest = { ...own };
  for (const part of ['scripts', 'devDependencies']) delete manifest[part];
  const natives = PLATFORMS.map((platform) => [`ebb-tfjs-${platform}`, own.version]);
  writeJson(join(stage, 'package.json'), {
    ...manifest,
    optionalDependencies: Object.fromEntries(natives),
  });
  const filter = (path) => !path.endsWith('.compiled');
  for (const part of own.files) {
    cpSync(join(root, part), join(stage, part), { recursive: true, filter });
  }
  copyFileSync(join(root, 'README.md'), join(stage, 'README.md'));
  copyFileSync(join(project, 'LICENSE'), join(stage, 'LICENSE'));
}

function stageNative(stage, name, platform, native) {
  const cuda = name.includes('-cuda-');
  cpSync(native, stage, { recursive: true });
  writeJson(join(stage, 'package.json'), {
    name,
    description: cuda
      ? `The plug-in of ebb-tfjs for NVIDIA's GPUs, ${platform}`
      : `The native part of ebb-tfjs for ${platform}`,
    ...common(),
    ...requirements(platform),
  });
  writeFileSync(
    join(stage, 'README.md'),
    `# ${name}\n\n` +
      (cuda
        ? `Install it beside ebb-tfjs: \`npm install ebb-tfjs ${name}\`. Backend \`ebb-cuda\` finds it.\n`
        : `npm installs it with ebb-tfjs where it fits; nobody has to name it.\n`),
  );
  copyFileSync(join(project, 'LICENSE'), join(stage, 'LICENSE'));
  copyTerms(join(stage, 'licenses'), cuda ? `cuda-${platform}` : platform);
}

function pack(stage, ...folders) {
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
  const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folders[0], stage];
  const file = execFileSync('npm', words, options).trim().split('\n').at(-1);
  for (const other of folders.slice(1)) copyFileSync(join(folders[0], file), join(other, file));
}

function main(folder, ...natives) {
  const stages = emptied(folder, 'stage');
  const given = natives.map((native) => native.split('='));
  const places = given.map(([platform]) => emptied(folder, platform));
  const javaScript = emptied(stages, own.name);
  stageJavaScript(javaScript);
  pack(javaScript, ...(places.length > 0 ? places : [folder]));
  given.forEach(([name, native], i) => {
    const platform = name.replace(/^cuda-/, '');
    const known = name === platform ? PLATFORMS : CUDA_PLATFORMS;
    if (!known.includes(platform)) throw new Error(`${name} is not in src/node/platforms.ts`);
    const stage = emptied(stages, `${own.name}-${name}`);
    stageNative(stage, `${own.name}-${name}`, platform, resolve(native));
    pack(stage, places[i]);
  });
  rmSync(stages, { recursive: true });
}

const [folder, ...natives] = process.argv.slice(2);
if (folder === undefined || natives.some((native) => !native.includes('='))) {
  console.error('Usage: node scripts/pack.mjs FOLDER [[cuda-]PLATFORM=NATIVE]...');
  process.exit(2);
}
main(resolve(folder), ...natives);
