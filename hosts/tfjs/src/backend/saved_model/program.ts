// From a graph without calls to a GraphModel of tfjs-converter, which runs it. Variables become constants, as in a frozen
// graph; tables, loops and lists become operations of our own (operations.ts), which need no promise.
import { GraphModel, type Tensor } from '@tensorflow/tfjs';
import { type FlatGraph, type FlatNode, split, VARIABLES } from './flat';
import { RENAMED, type Own, Table } from './operations';
import { type AttrValue, DT } from './proto';
import type { Values } from './values';

interface JsonNode {
  name: string;
  op: string;
  input: string[];
  attr: Record<string, unknown>;
}

/** TensorFlow takes what it is given of any shape, whatever the placeholder says; tfjs-converter would not. */
function withoutShape(attributes: Record<string, unknown>): Record<string, unknown> {
  const { shape, ...rest } = attributes;
  void shape;
  return rest;
}

/** The tables of a SavedModel, by the names under which its parts find them. */
export type Tables = Map<string, Table>;

const TABLES = new Set(['HashTableV2', 'HashTable', 'MutableHashTableV2', 'MutableHashTable']);
const LOOPS: Record<string, string[]> = {
  While: ['cond', 'body'],
  StatelessWhile: ['cond', 'body'],
  If: ['then_branch', 'else_branch'],
  StatelessIf: ['then_branch', 'else_branch'],
};

export const keyOfTable = ({ name, attr }: FlatNode): string => {
  const shared = attr.shared_name?.s;
  return shared?.length ? shared.toString('utf8') : name;
};

/** A graph that runs: placeholders in, tensors out. */
export class Program {
  private readonly model: GraphModel;
  private readonly outputs: string[];
  private readonly parts: Program[] = [];
  private readonly nodes = new Map<string, JsonNode>();
  private readonly weights: Array<{ name: string; data: Values }> = [];

  constructor(
    private readonly graph: FlatGraph,
    private readonly inputs: string[],
    results: string[],
    private readonly tables: Tables,
  ) {
    this.outputs = results.map((_, i) => `ebb_result_${i}`);
    for (const input of inputs) this.take(input);
    for (const [i, ref] of results.entries()) {
      this.put(this.outputs[i] as string, 'Identity', [this.reach(ref)]);
    }
    this.takeAll();
    this.model = this.build();
  }

  run(given: Tensor[]): Tensor[] {
    return [this.model.execute(this.named(given), this.outputs)].flat(); // one alone comes alone
  }

  async runLater(given: Tensor[]): Promise<Tensor[]> {
    return [await this.model.executeAsync(this.named(given), this.outputs)].flat();
  }

  dispose(): void {
    this.model.dispose();
    for (const part of this.parts) part.dispose();
  }

  private named(given: Tensor[]): Record<string, Tensor> {
    // A loop hands over what its body does not look at as well.
    const known = this.inputs.map((name, i) => [name, given[i] as Tensor] as const);
    return Object.fromEntries(known);
  }

  private build(): GraphModel {
    const artifacts = {
      modelTopology: { node: [...this.nodes.values()], versions: { producer: 1, minConsumer: 1 } },
      weightSpecs: this.weights.map(({ name, data: { dtype, shape } }) => ({ name, dtype, shape })),
      weightData: concatenated(this.weights.map(({ data }) => bytesOf(data))),
    };
    const model = new GraphModel({ load: () => artifacts } as never);
    void model.load();
    return model;
  }

  // ---- taking over nodes, from the results back

  private readonly waiting: string[] = [];

  /** The name that a converted node has for this value. */
  private reach(ref: string): string {
    const resolved = this.graph.resolve(ref);
    const [name, index] = split(resolved);
    if (!this.nodes.has(name)) this.waiting.push(name);
    return index === 0 ? name : resolved;
  }

  private takeAll(): void {
    for (let name = this.waiting.pop(); name !== undefined; name = this.waiting.pop()) {
      this.take(name);
    }
  }

  private take(name: string): void {
    if (this.nodes.has(name)) return;
    const node = this.graph.node(name);
    const { op } = node;
    if (op === 'Const' || VARIABLES.has(op)) this.constant(name, this.graph.constant(name));
    else if (TABLES.has(op)) this.own(node, { table: this.table(node) });
    else if (LOOPS[op] !== undefined) this.own(node, { programs: this.programs(node) });
    else if (op === 'ReadVariableOp') this.put(name, 'Identity', this.operands(node));
    else if (op === 'ResourceGather') this.gather(node);
    else if (RENAMED[op] !== undefined) this.own(node, {});
    else if (op === 'Placeholder') this.put(name, op, [], withoutShape(attributes(node)));
    else this.put(name, op, this.operands(node), attributes(node));
  }

  private operands(node: FlatNode): string[] {
    return node.input.map((ref) => this.reach(ref));
  }

  private put(name: string, op: string, input: string[], attr: Record<string, unknown> = {}): void {
    this.nodes.set(name, { name, op, input, attr });
  }

  private constant(name: string, data: Values): void {
    this.put(name, 'Const', [], { dtype: { type: TYPES[data.dtype] } });
    this.weights.push({ name, data });
  }

  /** An operation of ours, with what it works on. */
  private own(node: FlatNode, own: Own): void {
    this.put(node.name, RENAMED[node.op] as string, this.operands(node), {
      ...attributes(node),
      ebb: own,
    });
  }

  private gather(node: FlatNode): void {
    const axis = `${node.name}/ebb_axis`;
    this.constant(axis, { dtype: 'int32', shape: [], values: Int32Array.of(0) });
    this.put(node.name, 'GatherV2', [...this.operands(node), axis]);
  }

  private table(node: FlatNode): Table {
    const key = keyOfTable(node);
    const { tables } = this;
    let table = tables.get(key);
    if (table === undefined) tables.set(key, (table = new Table('int32')));
    return table;
  }

  private programs(node: FlatNode): Program[] {
    return (LOOPS[node.op] as string[]).map((attribute) => {
      const name = node.attr[attribute]?.func?.name ?? '';
      const { graph, args, results } = this.graph.ofFunction(name);
      const program = new Program(graph, args, results, this.tables);
      this.parts.push(program);
      return program;
    });
  }
}

// ---- as tfjs-converter reads them

const TYPES: Record<string, number> = {
  float32: DT.DT_FLOAT,
  int32: DT.DT_INT32,
  bool: DT.DT_BOOL,
  string: DT.DT_STRING,
  complex64: DT.DT_COMPLEX64,
};

/** Text as numbers: what it takes for text would be base64. */
function attribute({ s, list, i, f, b, type, shape }: AttrValue): unknown {
  const out: Record<string, unknown> = { i, f, b, type, shape };
  if (s !== undefined) out.s = [...s];
  if (list !== undefined)
    out.list = { ...list, ...(list.s && { s: list.s.map((each) => [...each]) }) };
  return out;
}

function attributes({ attr }: FlatNode): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attr).map(([name, value]) => [name, attribute(value)]));
}

function bytesOf({ values }: Values): Uint8Array {
  if (!Array.isArray(values))
    return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return Buffer.concat(
    values.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(text.length);
      return [length, text];
    }),
  );
}

function concatenated(parts: Uint8Array[]): ArrayBuffer {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all.buffer;
}
