// `tf.node.loadSavedModel` and what belongs to it: TensorFlow's SavedModels, read here, run by tfjs-converter.
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  clone,
  type DataType,
  getBackend,
  type NamedTensorMap,
  Tensor,
  tidy,
} from '@tensorflow/tfjs';
import { badArgument, EbbError } from '../../errors';
import { AwayModel, type Source } from './away';
import { Bundle } from './bundle';
import { FlatGraph } from './flat';
import { Table, withLists, withListsLater } from './operations';
import { keyOfTable, Program, type Tables } from './program';
import {
  decode,
  DT,
  type MetaGraphDef,
  nameOfDtype,
  SAVED_MODEL,
  type SignatureDef,
  type TensorInfo,
} from './proto';
import { dimsOf, type Values } from './values';

export interface SavedTensorInfo {
  name: string;
  dtype: DataType;
  tfDtype: string;
  shape: number[];
}
export interface SignatureInfo {
  inputs: Record<string, SavedTensorInfo>;
  outputs: Record<string, SavedTensorInfo>;
}
export interface MetaGraphInfo {
  tags: string[];
  signatureDefs: Record<string, SignatureInfo>;
}

const INIT = '__saved_model_init_op';

function unreadable(path: string, error: unknown): EbbError {
  const why = (error as Error).message;
  return new EbbError(
    'EBB_INVALID_ARGUMENT',
    `[loadSavedModel] Received ${path}, which cannot be read (${why}); allowed: a SavedModel of TensorFlow.`,
    { cause: error },
  );
}

async function readMetaGraphs(path: string): Promise<MetaGraphDef[]> {
  const file = join(path, 'saved_model.pb');
  if (!existsSync(file))
    throw badArgument('loadSavedModel', path, 'a folder with a file saved_model.pb');
  try {
    const bytes = await readFile(file);
    return decode<{ metaGraphs?: MetaGraphDef[] }>(bytes, SAVED_MODEL).metaGraphs ?? [];
  } catch (error) {
    throw unreadable(path, error);
  }
}

const DTYPES: Record<number, DataType> = {
  [DT.DT_FLOAT]: 'float32',
  [DT.DT_DOUBLE]: 'float32',
  [DT.DT_INT32]: 'int32',
  [DT.DT_INT64]: 'int32',
  [DT.DT_UINT8]: 'int32',
  [DT.DT_BOOL]: 'bool',
  [DT.DT_COMPLEX64]: 'complex64',
  [DT.DT_STRING]: 'string',
};

function describe(infos: Record<string, TensorInfo> = {}): Record<string, SavedTensorInfo> {
  return Object.fromEntries(
    Object.entries(infos).map(([key, { name = '', dtype = 0, tensorShape }]) => [
      key,
      {
        name,
        dtype: DTYPES[dtype] ?? 'float32',
        tfDtype: nameOfDtype(dtype),
        shape: dimsOf(tensorShape),
      },
    ]),
  );
}

const signaturesOf = ({ signatureDef = {} }: MetaGraphDef): Record<string, SignatureInfo> =>
  Object.fromEntries(
    Object.entries(signatureDef)
      .filter(([key]) => key !== INIT)
      .map(([key, { inputs, outputs }]) => [
        key,
        { inputs: describe(inputs), outputs: describe(outputs) },
      ]),
  );

const tagsOf = ({ metaInfoDef }: MetaGraphDef): string[] => metaInfoDef?.tags ?? [];

/** What a SavedModel has: for each of its graphs the tags, and the signatures with their tensors. */
export async function getMetaGraphsFromSavedModel(path: string): Promise<MetaGraphInfo[]> {
  const graphs = await readMetaGraphs(path);
  return graphs.map((graph) => ({ tags: tagsOf(graph), signatureDefs: signaturesOf(graph) }));
}

// ---- tables

const IMPORTS = new Set(['LookupTableImportV2', 'LookupTableImport', 'InitializeTableV2']);
const FILES = new Set(['InitializeTableFromTextFileV2', 'InitializeTableFromTextFile']);

const texts = ({ dtype, values }: Values): Array<string | number> =>
  dtype === 'string'
    ? (values as Buffer[]).map((each) => each.toString('utf8'))
    : Array.from(values as Int32Array);

/** A table's lines: the whole of one (-2), its number (-1), or a column. */
function column(lines: string[], index: number, delimiter: string): Array<string | number> {
  if (index === -2) return lines;
  return lines.map((line, i) => (index === -1 ? i : (line.split(delimiter)[index] ?? '')));
}

function tablesOf(graph: FlatGraph, assets: Map<string, string>): Tables {
  const tables: Tables = new Map();
  const fill = (
    handle: string,
    keys: Array<string | number>,
    values: Array<string | number>,
  ): void => {
    const key = keyOfTable(graph.origin(handle).node);
    let table = tables.get(key);
    if (table === undefined) tables.set(key, (table = new Table('int32')));
    table.fill(keys, values, typeof values[0] === 'string' ? 'string' : valueDtype(graph, handle));
  };
  for (const { op, input, attr } of graph.nodes.values()) {
    const [handle, first, second] = input as [string, string, string];
    if (IMPORTS.has(op)) fill(handle, texts(graph.constant(first)), texts(graph.constant(second)));
    if (!FILES.has(op)) continue;
    const file = assets.get(graph.source(first).node.name) ?? texts(graph.constant(first))[0];
    const lines = readFileSync(String(file), 'utf8').split('\n');
    if (lines.at(-1) === '') lines.pop();
    const delimiter = attr.delimiter?.s?.toString('utf8') ?? '\t';
    const part = (name: string): Array<string | number> =>
      column(lines, attr[name]?.i ?? 0, delimiter);
    const numeric = (name: string, values: Array<string | number>): Array<string | number> =>
      isText(graph, handle, name) ? values : values.map(Number);
    fill(
      handle,
      numeric('key_dtype', part('key_index')),
      numeric('value_dtype', part('value_index')),
    );
  }
  return tables;
}

function isText(graph: FlatGraph, handle: string, attribute: string): boolean {
  return graph.origin(handle).node.attr[attribute]?.type === DT.DT_STRING;
}

function valueDtype(graph: FlatGraph, handle: string): DataType {
  return DTYPES[graph.origin(handle).node.attr.value_dtype?.type ?? DT.DT_INT64] ?? 'int32';
}

// ---- the model

let loaded = 0;

/** How many SavedModels are loaded and not disposed of. */
export function getNumOfSavedModels(): number {
  return loaded;
}

const same = (a: string[], b: string[]): boolean =>
  a.length === b.length && a.every((each) => b.includes(each));

/** One signature of a SavedModel. */
export class TFSavedModel {
  private disposed = false;
  private away: AwayModel | undefined;

  constructor(
    private readonly program: Program,
    private readonly signature: SignatureInfo,
    private readonly source: Source,
  ) {
    loaded++;
  }

  get inputs(): SavedTensorInfo[] {
    return Object.values(this.signature.inputs).map(withoutIndex);
  }

  get outputs(): SavedTensorInfo[] {
    return Object.values(this.signature.outputs).map(withoutIndex);
  }

  /** For one tensor a tensor (or several), for several an array, for tensors by name those by name. */
  predict(inputs: Tensor | Tensor[] | NamedTensorMap): Tensor | Tensor[] | NamedTensorMap {
    const given = this.inOrder(inputs);
    const results = withLists(() =>
      tidy(() => this.program.run(given).map((result) => clone(result))),
    );
    return this.shaped(inputs, results);
  }

  /**
   * The same without holding up the event loop: on backend `ebb` a worker computes it. Also for graphs with operations that
   * TensorFlow.js has as promises (non-max suppression, where).
   */
  async predictAsync(
    inputs: Tensor | Tensor[] | NamedTensorMap,
  ): Promise<Tensor | Tensor[] | NamedTensorMap> {
    const given = this.inOrder(inputs);
    if (!this.canGoAway()) return this.shaped(inputs, await this.runHere(given));
    this.away ??= new AwayModel(this.source);
    return this.shaped(inputs, await this.away.run(given));
  }

  /** In this thread, which then waits only where TensorFlow.js does. */
  runHere(given: Tensor[]): Promise<Tensor[]> {
    return withListsLater(() => this.program.runLater(given));
  }

  /** A GPU computes while the loop goes on anyway; complex numbers do not travel. */
  private canGoAway(): boolean {
    const { inputs, outputs } = this.signature;
    const all = [...Object.values(inputs), ...Object.values(outputs)];
    return (
      getBackend() === 'ebb' &&
      all.every(({ dtype }) => dtype !== 'complex64') &&
      AwayModel.possible()
    );
  }

  execute(): never {
    throw new EbbError('EBB_UNSUPPORTED', '[SavedModel] execute() is not there; use predict().');
  }

  dispose(): void {
    if (this.disposed)
      throw new EbbError('EBB_STALE_HANDLE', 'This SavedModel has already been deleted.');
    this.disposed = true;
    loaded--;
    this.away?.dispose();
    this.program.dispose();
  }

  private inOrder(inputs: Tensor | Tensor[] | NamedTensorMap): Tensor[] {
    if (this.disposed)
      throw new EbbError('EBB_STALE_HANDLE', 'The TFSavedModel has already been deleted!');
    const names = Object.keys(this.signature.inputs);
    const isList = Array.isArray(inputs) || inputs instanceof Tensor;
    const given = isList ? [inputs].flat() : names.map((name) => inputs[name] as Tensor);
    const found = isList ? names.slice(0, given.length) : Object.keys(inputs);
    if (!same(found, names) || given.length !== names.length)
      throw badArgument('SavedModel', `inputs ${found.join()}`, names.join());
    return given;
  }

  private shaped(
    inputs: Tensor | Tensor[] | NamedTensorMap,
    results: Tensor[],
  ): Tensor | Tensor[] | NamedTensorMap {
    if (inputs instanceof Tensor) return results.length > 1 ? results : (results[0] as Tensor);
    if (Array.isArray(inputs)) return results;
    const names = Object.keys(this.signature.outputs);
    return Object.fromEntries(names.map((name, i) => [name, results[i] as Tensor]));
  }
}

const withoutIndex = (info: SavedTensorInfo): SavedTensorInfo => ({
  ...info,
  name: info.name.replace(/:0$/, ''),
});

function assetsOf(path: string, { assetFileDef = [] }: MetaGraphDef): Map<string, string> {
  return new Map(
    assetFileDef.map(({ tensorInfo, filename = '' }) => [
      (tensorInfo?.name ?? '').replace(/:0$/, ''),
      join(path, 'assets', filename),
    ]),
  );
}

function build(path: string, meta: MetaGraphDef, signature: SignatureDef): Program {
  let bundle: Bundle | undefined;
  const checkpoint = (): Bundle => (bundle ??= new Bundle(join(path, 'variables', 'variables')));
  const ops = meta.metaInfoDef?.strippedOpList?.op ?? [];
  const graph = new FlatGraph(meta.graphDef ?? {}, ops, checkpoint);
  const tables = tablesOf(graph, assetsOf(path, meta));
  const names = (infos: Record<string, TensorInfo> = {}): string[] =>
    Object.values(infos).map(({ name = '' }) => name);
  const inputs = names(signature.inputs).map((name) => name.replace(/:0$/, ''));
  return new Program(graph, inputs, names(signature.outputs), tables);
}

/** Loads one signature of a TensorFlow SavedModel from a folder. */
export async function loadSavedModel(
  path: string,
  tags: string[] = ['serve'],
  signature = 'serving_default',
): Promise<TFSavedModel> {
  const graphs = await readMetaGraphs(path);
  const meta = graphs.find((graph) => same(tagsOf(graph), tags));
  if (meta === undefined) {
    const there = graphs.map((graph) => `[${tagsOf(graph)}]`).join(', ');
    throw badArgument('loadSavedModel: tags', tags.join(), there);
  }
  const found = meta.signatureDef?.[signature];
  const infos = signaturesOf(meta);
  const info = infos[signature];
  if (found === undefined || info === undefined)
    throw badArgument('loadSavedModel: signature', signature, Object.keys(infos).join(', '));
  try {
    return new TFSavedModel(build(path, meta, found), info, { path, tags, signature });
  } catch (error) {
    throw unreadable(path, error);
  }
}
