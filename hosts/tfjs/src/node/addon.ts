// The host in Node: the addon, from a build in a clone or from the package of this platform.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { badArgument, EbbError } from '../errors';
import { type Host, provideHost } from '../host';
import { LAYOUT } from '../shared';
import { CUDA_PLATFORMS, platform, PLATFORMS } from './platforms';

const OLDEST_NODE = 20;
const FILE = 'ebb_node.node';

const own = join(__dirname, '..', '..', 'build', FILE);
let packaged: string | undefined;

/** The file of a package that may be installed. */
function ofPackage(name: string, file: string): string | undefined {
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    return undefined;
  }
}

function chosen(): string | undefined {
  const path = process.env.EBB_ADDON || undefined;
  if (path !== undefined && !existsSync(path))
    throw badArgument('EBB_ADDON', path, 'the path of an addon');
  return path;
}

/** Where the addon is; undefined: this platform has none. */
export function addonPath(): string | undefined {
  return (
    chosen() ?? (existsSync(own) ? own : (packaged ??= ofPackage(`ebb-tfjs-${platform()}`, FILE)))
  );
}

/** Whether Ebb can run here. Where it cannot, `missing` says why. */
export function isThere(): boolean {
  return addonPath() !== undefined;
}

export function missing(): string {
  const here = platform();
  return (PLATFORMS as readonly string[]).includes(here)
    ? `the package ebb-tfjs-${here} is not installed (npm leaves it out with --omit=optional or --no-optional)`
    : `there is no native part for ${here}; there is one for ${PLATFORMS.join(', ')}`;
}

/** The core looks for its plug-in beside the addon, or where this variable says. */
function offerCuda(): void {
  const here = platform();
  if (process.env.EBB_CUDA_PLUGIN || !(CUDA_PLATFORMS as readonly string[]).includes(here)) return;
  const plugin = ofPackage(`ebb-tfjs-cuda-${here}`, 'libebb_cuda.so');
  if (plugin !== undefined) process.env.EBB_CUDA_PLUGIN = plugin;
}

function load(): Host {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] Node ${process.versions.node} is too old; use Node ${OLDEST_NODE} or newer.`,
    );
  }
  const path = addonPath();
  if (path === undefined)
    throw new EbbError('EBB_UNSUPPORTED', `[ebb-tfjs] Cannot run: ${missing()}.`);
  offerCuda();
  const addon = open(path);
  if (addon.layout !== LAYOUT) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] ${path} is of another version; ` +
        (path === packaged
          ? `install ${dirname(path).split('/').at(-1)} in the version of ebb-tfjs.`
          : `run 'npm run build'.`),
    );
  }
  return addon;
}

function open(path: string): Host {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- the only way to load an addon
    return require(path) as Host;
  } catch (error) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] ${path} does not load on ${platform()} (${(error as Error).message}); ` +
        `there are packages for ${PLATFORMS.join(', ')}.`,
      { cause: error },
    );
  }
}

provideHost(load);
