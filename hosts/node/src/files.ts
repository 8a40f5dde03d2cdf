// `file://` for loading and saving models, where no backend brings a handler of its own.
import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  return url.startsWith('file:///') ? fileURLToPath(url) : url.slice(SCHEME.length);
}

async function load(url: string): Promise<Artifacts> {
  const path = pathOf(url);
  const { weightsManifest = [], ...model } = JSON.parse(await readFile(path, 'utf8')) as ModelJson;
  const parts: Buffer[] = [];
  for (const group of weightsManifest) {
    for (const name of group.paths) parts.push(await readFile(join(dirname(path), name)));
  }
  const joined = Buffer.concat(parts);
  const weightData = joined.buffer.slice(joined.byteOffset, joined.byteOffset + joined.byteLength);
  const weightSpecs = weightsManifest.flatMap((group) => group.weights);
  return { ...model, weightSpecs, weightData: weightData as ArrayBuffer };
}

async function save(url: string, artifacts: Artifacts): Promise<unknown> {
  const folder = pathOf(url);
  const { weightSpecs = [], weightData = new ArrayBuffer(0), ...model } = artifacts;
  const parts = Array.isArray(weightData) ? weightData : [weightData];
  const weightsManifest = [{ paths: [`./${WEIGHTS}`], weights: weightSpecs }];
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'model.json'), JSON.stringify({ ...model, weightsManifest }));
  await writeFile(join(folder, WEIGHTS), Buffer.concat(parts.map((part) => Buffer.from(part))));
  return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } };
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
    return { load: () => load(url), save: (artifacts) => save(url, artifacts) };
  };
}

let registered = false;

export function registerFileHandlers(): void {
  const tfjs = findTfjs();
  if (registered || tfjs === undefined) return;
  registered = true;
  // Not now: TensorFlow.js may be in the middle of loading.
  queueMicrotask(() => {
    const { io } = createRequire(tfjs)(tfjs) as { io: Io };
    io.registerLoadRouter(router((url) => io.getLoadHandlers(url)));
    io.registerSaveRouter(router((url) => io.getSaveHandlers(url)));
  });
}
