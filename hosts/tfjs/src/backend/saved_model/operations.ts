// What of TensorFlow's state a graph may use while it runs: tables, loops, lists of tensors. tfjs-converter has them as
// operations that give promises; a SavedModel's `predict` gives its result at once, as in tfjs-node.
import {
  clone,
  type DataType,
  keep,
  registerOp,
  scalar,
  stack,
  type Tensor,
  tensor,
  tidy,
  unstack,
  zeros,
} from '@tensorflow/tfjs';

interface Runs {
  run(given: Tensor[]): Tensor[];
}

/** What a node of ours carries in its attribute `ebb`. */
export interface Own {
  table?: Table;
  programs?: Runs[];
}

interface Node {
  inputs: Tensor[];
  attrs: Record<string, unknown>;
  /** tfjs-converter's node, with its attributes as they were given. */
  node: { rawAttrs: { ebb: Own } };
}

type Operation = (node: Node) => Tensor | Tensor[];

const number = (value: Tensor | undefined): number => value?.dataSync()[0] as number;

// ---- tables

type Key = string | number;

export class Table {
  private static readonly all = new Map<number, WeakRef<Table>>();
  private static next = 1;
  readonly id = Table.next++;
  private readonly entries = new Map<Key, Key>();

  constructor(public dtype: DataType) {
    Table.all.set(this.id, new WeakRef(this));
    forgotten.register(this, this.id);
  }

  static of(handle: Tensor | undefined): Table {
    const found = Table.all.get(number(handle))?.deref();
    if (found === undefined) throw new Error('[SavedModel] Its table is gone.');
    return found;
  }

  static forget(id: number): void {
    Table.all.delete(id);
  }

  fill(keys: ArrayLike<Key>, values: ArrayLike<Key>, dtype: DataType): void {
    this.dtype = dtype;
    for (let i = 0; i < keys.length; i++) this.entries.set(keys[i] as Key, values[i] as Key);
  }

  get size(): number {
    return this.entries.size;
  }

  find(keys: Tensor, otherwise: Tensor): Tensor {
    const missing = otherwise.dataSync()[0] as unknown as Key;
    const wanted = Array.from(keys.dataSync() as unknown as ArrayLike<Key>);
    const found = wanted.map((key) => this.entries.get(key) ?? missing);
    return tensor(found as number[], keys.shape, this.dtype);
  }
}

const forgotten = new FinalizationRegistry<number>((id) => Table.forget(id));

// ---- lists of tensors

/** Their elements; each operation that changes a list makes a new one, and nothing ends before the run does. */
type List = { elements: Array<Tensor | undefined>; dtype: DataType; shape: number[] | undefined };

const lists = new Map<number, List>();
let nextList = 1;
let runs = 0;

/** Runs something that may use lists, which end with it. */
export function withLists<T>(run: () => T): T {
  runs++;
  try {
    return run();
  } finally {
    endRun();
  }
}

export async function withListsLater<T>(run: () => Promise<T>): Promise<T> {
  runs++;
  try {
    return await run();
  } finally {
    endRun();
  }
}

function endRun(): void {
  if (--runs > 0) return;
  for (const { elements } of lists.values()) for (const element of elements) element?.dispose();
  lists.clear();
}

function newList(elements: Array<Tensor | undefined>, dtype: DataType, shape?: number[]): Tensor {
  lists.set(nextList, { elements, dtype, shape });
  return scalar(nextList++, 'int32');
}

function listOf(handle: Tensor | undefined): List {
  const list = lists.get(number(handle));
  if (list === undefined) throw new Error('[SavedModel] Its list of tensors is gone.');
  return list;
}

const held = (element: Tensor): Tensor => keep(clone(element));

/** Dimensions that are all known, or undefined. */
function known(shape: Tensor | undefined): number[] | undefined {
  if (shape === undefined || shape.rank === 0) return undefined;
  const dims = Array.from(shape.dataSync());
  return dims.every((dim) => dim >= 0) ? dims : undefined;
}

/** An element, or zeros where none was set, in the shape that any of them has. */
function element({ elements, dtype, shape }: List, index: number, wanted?: Tensor): Tensor {
  const found = elements[index];
  if (found !== undefined) return clone(found);
  const dims = known(wanted) ?? shape ?? elements.find((each) => each !== undefined)?.shape;
  if (dims === undefined || index < 0 || index >= elements.length)
    throw new Error(`[SavedModel] Received element ${index} of a list of ${elements.length}.`);
  return zeros(dims, dtype);
}

const changed = (list: List, elements: List['elements']): Tensor =>
  newList(elements, list.dtype, list.shape);

const dtypeOf = ({ attrs }: Node): DataType => (attrs.element_dtype as DataType) ?? 'float32';

const LISTS: Record<string, Operation> = {
  TensorListReserve: (node) => {
    const [shape, count] = node.inputs;
    return newList(Array.from({ length: number(count) }), dtypeOf(node), known(shape));
  },
  EmptyTensorList: (node) => newList([], dtypeOf(node), known(node.inputs[0])),
  TensorListFromTensor: (node) => {
    const [all, shape] = node.inputs as [Tensor, Tensor];
    const elements = tidy(() => unstack(all).map(held));
    return newList(elements, all.dtype, known(shape));
  },
  TensorListSetItem: ({ inputs: [handle, index, item] }) => {
    const list = listOf(handle);
    const elements = list.elements.map((each) => each && held(each));
    elements[number(index)]?.dispose();
    elements[number(index)] = held(item as Tensor);
    return changed(list, elements);
  },
  TensorListGetItem: ({ inputs: [handle, index, shape] }) =>
    element(listOf(handle), number(index), shape),
  TensorListLength: ({ inputs: [handle] }) => scalar(listOf(handle).elements.length, 'int32'),
  TensorListPushBack: ({ inputs: [handle, item] }) => {
    const list = listOf(handle);
    return changed(list, [
      ...list.elements.map((each) => each && held(each)),
      held(item as Tensor),
    ]);
  },
  TensorListPopBack: ({ inputs: [handle, shape] }) => {
    const list = listOf(handle);
    const last = list.elements.length - 1;
    const rest = list.elements.slice(0, last).map((each) => each && held(each));
    return [changed(list, rest), element(list, last, shape)];
  },
  TensorListStack: ({ inputs: [handle, shape] }) =>
    tidy(() => {
      const list = listOf(handle);
      if (list.elements.length === 0) return zeros([0, ...(known(shape) ?? [])], list.dtype);
      return stack(list.elements.map((_, i) => element(list, i, shape)));
    }),
  TensorListGather: ({ inputs: [handle, indices, shape] }) =>
    tidy(() => {
      const list = listOf(handle);
      const wanted = Array.from((indices as Tensor).dataSync());
      return stack(wanted.map((index) => element(list, index, shape)));
    }),
};

// ---- loops

function runWhile({ inputs, node }: Node): Tensor[] {
  const [condition, body] = node.rawAttrs.ebb.programs as [Runs, Runs];
  let values = inputs.map((input) => clone(input));
  while (tidy(() => number(condition.run(values)[0])) !== 0) {
    const before = values;
    values = tidy(() => body.run(before).map((value) => clone(value)));
    for (const value of before) value.dispose();
  }
  return values;
}

function runIf({ inputs: [condition, ...given], node }: Node): Tensor[] {
  const [then, otherwise] = node.rawAttrs.ebb.programs as [Runs, Runs];
  const branch = number(condition) !== 0 ? then : otherwise;
  return tidy(() => branch.run(given).map((value) => clone(value)));
}

// ---- by TensorFlow's names

const find: Operation = ({ inputs: [handle, keys, otherwise] }) =>
  Table.of(handle).find(keys as Tensor, otherwise as Tensor);
const makeTable: Operation = ({ node }) => scalar((node.rawAttrs.ebb.table as Table).id, 'int32');
const size: Operation = ({ inputs: [handle] }) => scalar(Table.of(handle).size, 'int32');

const OPERATIONS: Record<string, Operation> = {
  ...LISTS,
  While: runWhile,
  StatelessWhile: runWhile,
  If: runIf,
  StatelessIf: runIf,
  HashTable: makeTable,
  HashTableV2: makeTable,
  MutableHashTable: makeTable,
  MutableHashTableV2: makeTable,
  LookupTableFind: find,
  LookupTableFindV2: find,
  LookupTableSize: size,
  LookupTableSizeV2: size,
  EnsureShape: ({ inputs: [x] }) => clone(x as Tensor),
  PreventGradient: ({ inputs: [x] }) => clone(x as Tensor),
};

/** TensorFlow's name to the one under which ours is registered: other graphs keep tfjs-converter's. */
export const RENAMED: Record<string, string> = Object.fromEntries(
  Object.keys(OPERATIONS).map((name) => [name, `Ebb${name}`]),
);

for (const [name, run] of Object.entries(OPERATIONS)) {
  registerOp(RENAMED[name] as string, run as never);
}
