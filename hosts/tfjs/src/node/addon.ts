// The host in Node: the addon.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { badArgument, EbbError } from '../errors';
import { type Host, provideHost } from '../host';
import { LAYOUT } from '../shared';

const OLDEST_NODE = 20;

function places(): string[] {
  const root = join(__dirname, '..', '..');
  const chosen = process.env.EBB_ADDON;
  const name = 'ebb_node.node';
  return [...(chosen ? [chosen] : []), join(root, 'prebuilt', name), join(root, 'build', name)];
}

function load(): Host {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] Node ${process.versions.node} is too old; use Node ${OLDEST_NODE} or newer.`,
    );
  }
  const chosen = process.env.EBB_ADDON;
  if (chosen && !existsSync(chosen)) throw badArgument('EBB_ADDON', chosen, 'the path of an addon');
  const path = places().find(existsSync);
  if (path === undefined) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] The addon is not built (looked for ${places().join(', ')}); run 'npm run build'.`,
    );
  }
  const addon = open(path);
  if (addon.layout !== LAYOUT) {
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[ebb-tfjs] ${path} is of another version; run 'npm run build'.`,
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
      `[ebb-tfjs] The addon does not load on ${process.platform}-${process.arch} (${(error as Error).message}); ` +
        `the package has one for linux-x64 with glibc, elsewhere it is built from a clone.`,
      { cause: error },
    );
  }
}

provideHost(load);
