// `file://` for loading and saving models, where no backend brings a handler of its own.
import { lstatSync, readlinkSync } from 'node:fs';
import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { badArgument, EbbError } from '../errors';
import { findTfjs } from './locate';

interface WeightGroup {
  paths: string[];
  weights: unknown[];
}

interface ModelJson {
  modelTopology?: unknown;
  weightsManifest?: WeightGroup[];
  [field: string]: unknown;
}

interface Artifacts {
  modelTopology?: unknown;
  weightSpecs?: unknown[];
  weightData?: ArrayBuffer | ArrayBuffer[];
  [field: string]: unknown;
}

interface Handler {
  load(): Promise<Artifacts>;
  save(artifacts: Artifacts): Promise<unknown>;
}

type Router = (url: unknown) => Handler | null;

interface Io {
  registerLoadRouter(router: Router): void;
  registerSaveRouter(router: Router): void;
  getLoadHandlers(url: string): Handler[];
  getSaveHandlers(url: string): Handler[];
}

const SCHEME = 'file://';
const WEIGHTS = 'weights.bin';

function pathOf(url: string): string {
  const path = url.slice(SCHEME.length);
  if (!path.startsWith('/')) return path;
  try {
    return fileURLToPath(url);
  } catch {
    return path; // a path that was put behind the scheme as it is, with a % that encodes nothing
  }
}

function bufferOf(bytes: Buffer): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new EbbError(
      'EBB_INVALID_ARGUMENT',
      `[io] ${path} cannot be read: ${(error as Error).message}; allowed: the model.json of a saved model.`,
      { cause: error },
    );
  }
}

async function readWeights(folder: string, manifest: WeightGroup[]): Promise<Artifacts> {
  const parts: Buffer[] = [];
  for (const group of manifest) {
    for (const name of group.paths) parts.push(await read(join(folder, name)));
  }
  return {
    weightSpecs: manifest.flatMap((group) => group.weights),
    weightData: bufferOf(Buffer.concat(parts)),
  };
}

async function load(path: string): Promise<Artifacts> {
  const text = (await read(path)).toString('utf8');
  const { weightsManifest = [], ...model } = JSON.parse(text) as ModelJson;
  return { ...model, ...(await readWeights(dirname(path), weightsManifest)) };
}

/** A graph as a protocol buffer, and the manifest of its weights beside it. */
async function loadBinary(topology: string, manifest: string): Promise<Artifacts> {
  const groups = JSON.parse((await read(manifest)).toString('utf8')) as WeightGroup[];
  const modelTopology = bufferOf(await read(topology));
  return { modelTopology, ...(await readWeights(dirname(manifest), groups)) };
}

async function save(folder: string, artifacts: Artifacts): Promise<unknown> {
  const { weightSpecs = [], weightData = new ArrayBuffer(0), ...model } = artifacts;
  const parts = Array.isArray(weightData) ? weightData : [weightData];
  const weightsManifest = [{ paths: [WEIGHTS], weights: weightSpecs }];
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'model.json'), JSON.stringify({ ...model, weightsManifest }));
  await writeFile(join(folder, WEIGHTS), Buffer.concat(parts.map((part) => Buffer.from(part))));
  return {
    modelArtifactsInfo: {
      dateSaved: new Date(),
      modelTopologyType: 'JSON',
      modelTopologyBytes: Buffer.byteLength(JSON.stringify(model.modelTopology ?? '')),
      weightSpecsBytes: Buffer.byteLength(JSON.stringify(weightSpecs)),
      weightDataBytes: parts.reduce((sum, part) => sum + part.byteLength, 0),
    },
  };
}

/** The file that a path leads to, through links: one that is written anew takes the place of what has its name. */
export function fileToWrite(what: string, path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) {
    return fileToWrite(what, resolve(dirname(path), readlinkSync(path)));
  }
  if (found !== undefined && !found.isFile())
    throw badArgument(what, path, 'the path of a regular file, or of none yet');
  return path;
}

/** A recording is long, and written where others may write too: links are not followed. */
export function fileToRecord(what: string, path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile())
    throw badArgument(what, path, 'the path of a regular file, no link, or of none yet');
  return path;
}

/** Models in files, as tfjs-node's `tf.io.fileSystem`: a folder to save to, a model.json to load. */
export function fileSystem(path: string | string[]): Handler {
  if (typeof path === 'string') {
    return { load: () => load(path), save: (artifacts) => save(path, artifacts) };
  }
  const [topology, manifest] = path;
  if (path.length !== 2 || topology === undefined || manifest === undefined) {
    throw badArgument('io.fileSystem', `${path.length} paths`, 'one, or a model and its manifest');
  }
  return {
    load: () => loadBinary(topology, manifest),
    save: () =>
      Promise.reject(badArgument('io.fileSystem', 'two paths to save to', 'one, of a folder')),
  };
}

/** Answers for `file://` only where nobody else does. */
function router(others: (url: string) => Handler[]): Router {
  let asking = false;
  return (url) => {
    if (asking || typeof url !== 'string' || !url.startsWith(SCHEME)) return null;
    asking = true;
    try {
      if (others(url).length > 0) return null;
    } finally {
      asking = false;
    }
    return fileSystem(pathOf(url));
  };
}

function registerWith(io: Io): void {
  io.registerLoadRouter(router((url) => io.getLoadHandlers(url)));
  io.registerSaveRouter(router((url) => io.getSaveHandlers(url)));
}

let registered = false;

/** `file://` for this copy of TensorFlow.js. */
export function registerFileSystem(io: unknown): void {
  if (registered) return;
  registered = true;
  registerWith(io as Io);
}

export function registerFileHandlers(): void {
  const tfjs = findTfjs();
  if (registered || tfjs === undefined) return;
  registered = true;
  const load = createRequire(tfjs);
  const register = (): void => registerWith((load(tfjs) as { io: Io }).io);
  // While TensorFlow.js is being loaded its functions are not there yet.
  if (load.cache[tfjs]?.loaded) register();
  else queueMicrotask(register);
}
