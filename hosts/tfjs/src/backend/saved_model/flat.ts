// A SavedModel's graph without calls: the bodies of the functions that TensorFlow 2 saves, put where they are called.
import type { Bundle } from './bundle';
import type { FunctionDef, GraphDef, NodeDef, OpDef } from './proto';
import { type Values, valuesOf } from './values';

/** A node with its operands as `node:index`, whatever they went through. */
export interface FlatNode extends NodeDef {
  input: string[];
  attr: NonNullable<NodeDef['attr']>;
}

const CALLS = new Set(['PartitionedCall', 'StatefulPartitionedCall']);
const PASSES = new Set(['Identity', 'StopGradient', 'EnsureShape', 'ReadVariableOp']);

const ASSIGNS = new Set(['AssignVariableOp', 'Assign']);
export const VARIABLES = new Set(['VarHandleOp', 'VariableV2', 'Variable']);

export function split(ref: string): [name: string, index: number] {
  const colon = ref.lastIndexOf(':');
  return colon < 0 ? [ref, 0] : [ref.slice(0, colon), Number(ref.slice(colon + 1))];
}

const isData = (input: string): boolean => !input.startsWith('^');

export class FlatGraph {
  readonly nodes = new Map<string, FlatNode>();
  /** Calls: what each of their outputs is. */
  private readonly results = new Map<string, string[]>();
  private readonly ops: Map<string, OpDef>;
  private readonly functions: Map<string, FunctionDef>;
  private assigned: Map<string, string> | undefined;

  constructor(
    graph: GraphDef,
    ops: OpDef[],
    private readonly bundle: () => Bundle,
  ) {
    this.ops = new Map(ops.map((op) => [op.name, op]));
    const functions = graph.library?.function ?? [];
    this.functions = new Map(functions.map((each) => [each.signature.name, each]));
    for (const node of graph.node ?? []) {
      this.add(node, node.name, (node.input ?? []).filter(isData));
    }
  }

  /** A function as a graph of its own: its arguments are placeholders. */
  ofFunction(name: string): { graph: FlatGraph; args: string[]; results: string[] } {
    const { signature } = this.function(name);
    const args = (signature.inputArg ?? []).map((_, i) => `argument_${i}`);
    const graph = new FlatGraph({}, [...this.ops.values()], this.bundle);
    for (const [key, value] of this.functions) graph.functions.set(key, value);
    for (const arg of args) graph.add({ name: arg, op: 'Placeholder' }, arg, []);
    graph.call(
      this.function(name),
      'f',
      args.map((arg) => `${arg}:0`),
    );
    return { graph, args, results: graph.results.get('f') ?? [] };
  }

  /** The node and output that a reference means. */
  resolve(ref: string): string {
    for (;;) {
      const [name, index] = split(ref);
      const results = this.results.get(name);
      if (results === undefined) return `${name}:${index}`;
      ref = results[index] as string;
    }
  }

  node(ref: string): FlatNode {
    const [name] = split(this.resolve(ref));
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`its graph has no node ${name}`);
    return node;
  }

  /** Where a value comes from, past what only hands it on. */
  origin(ref: string): { node: FlatNode; index: number } {
    for (;;) {
      const node = this.node(ref);
      if (!PASSES.has(node.op)) return { node, index: split(this.resolve(ref))[1] };
      ref = node.input[0] as string;
    }
  }

  /** The same past variables: what restores one, or what it is made with. */
  source(ref: string): { node: FlatNode; index: number } {
    const origin = this.origin(ref);
    const value = this.valueOf(origin.node.name);
    return value === undefined ? origin : this.source(value);
  }

  /** A value that is known without running anything: a constant, or out of the checkpoint. */
  constant(ref: string): Values {
    const { node, index } = this.source(ref);
    if (node.op === 'Const') return valuesOf(node.attr.value?.tensor ?? {});
    if (node.op !== 'RestoreV2') throw new Error(`${node.name} (${node.op}) has no value`);
    const names = this.constant(node.input[1] as string).values as Buffer[];
    return this.bundle().read(String(names[index]));
  }

  /**
   * What is assigned to a variable: the graph itself says which tensor of the checkpoint is which variable. Keras 3 has a
   * second variable for each of its own, made of it: then the checkpoint has the second.
   */
  private valueOf(variable: string): string | undefined {
    this.assigned ??= this.findAssigned();
    return this.assigned.get(variable);
  }

  private findAssigned(): Map<string, string> {
    const assigned = new Map<string, string>();
    const copies: Array<[of: string, copy: string]> = [];
    for (const { op, input } of this.nodes.values()) {
      if (!ASSIGNS.has(op)) continue;
      const [variable, value] = input as [string, string];
      const { name } = this.origin(variable).node;
      const origin = this.origin(value).node;
      if (VARIABLES.has(origin.op)) copies.push([origin.name, name]);
      else if (origin.op === 'RestoreV2' || !assigned.has(name)) assigned.set(name, value);
    }
    for (const [of, copy] of copies) {
      const value = assigned.get(copy);
      if (value !== undefined && !assigned.has(of)) assigned.set(of, value);
    }
    return assigned;
  }

  private function(name: string): FunctionDef {
    const found = this.functions.get(name);
    if (found === undefined) throw new Error(`its graph has no function ${name}`);
    return found;
  }

  private add(node: NodeDef, name: string, input: string[]): void {
    const callee = CALLS.has(node.op) ? node.attr?.f?.func?.name : undefined;
    if (callee === undefined)
      this.nodes.set(name, { ...node, name, input, attr: this.attributes(node) });
    else this.call(this.function(callee), name, input);
  }

  /** With the values that a SavedModel leaves out because everybody knows them. */
  private attributes({ op, attr }: NodeDef): FlatNode['attr'] {
    const all: FlatNode['attr'] = {};
    for (const { name, defaultValue } of this.ops.get(op)?.attr ?? []) {
      if (defaultValue !== undefined) all[name] = defaultValue;
    }
    return { ...all, ...attr };
  }

  private call(callee: FunctionDef, name: string, input: string[]): void {
    const { signature, nodeDef = [], ret = {} } = callee;
    const given = new Map(
      (signature.inputArg ?? []).map((arg, i) => [arg.name, input[i] as string]),
    );
    const inside = new Map(nodeDef.map((node) => [node.name, node]));
    const outside = (ref: string): string => {
      const [first, output, index = '0'] = ref.split(':') as [string, string?, string?];
      const arg = given.get(first);
      if (arg !== undefined) return arg;
      return `${name}/${first}:${this.position(inside.get(first), output, Number(index))}`;
    };
    for (const node of nodeDef) {
      this.add(node, `${name}/${node.name}`, (node.input ?? []).filter(isData).map(outside));
    }
    const outputs = signature.outputArg ?? [];
    this.results.set(
      name,
      outputs.map((arg) => outside(ret[arg.name] as string)),
    );
  }

  /** In a function an output has a name and an index: the position among all outputs of its node. */
  private position(node: NodeDef | undefined, output: string | undefined, index: number): number {
    const outputs = node === undefined ? [] : (this.ops.get(node.op)?.outputArg ?? []);
    let before = 0;
    for (const { name, numberAttr, typeListAttr } of outputs) {
      if (name === output) break;
      if (numberAttr) before += node?.attr?.[numberAttr]?.i ?? 1;
      else if (typeListAttr) before += node?.attr?.[typeListAttr]?.list?.type?.length ?? 0;
      else before++;
    }
    return before + index;
  }
}
