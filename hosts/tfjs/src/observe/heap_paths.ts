// What holds objects: the shortest way to each from a root of V8's heap, in words of the program.
import { basename } from 'node:path';
import type { HeapGraph } from './heap_graph';
import { shown } from './shown';

/** The class whose instance names what is asked for; itself it holds nothing. */
export const ASKED = 'EbbAsked';

/** What running code has in its hands holds for a moment; what else there is, is the answer. */
const PASSING = new Set(['(Stack roots)', '(Handle scope)']);

export interface Holding {
  /** `global.cache (Map) -> .features (Array) -> [17]`; undefined: nothing holds it but running code. */
  heldBy: string | undefined;
  /** The way from the root, each step with what is there. */
  steps: string[];
}

/** Which edge leads to each node on the shortest way from the root; -1: none does. */
class Ways {
  readonly via: Int32Array;
  private readonly from: Int32Array;

  constructor(
    private readonly graph: HeapGraph,
    skipped: Set<number>,
  ) {
    const { count, first, to } = graph;
    this.via = new Int32Array(count).fill(-1);
    this.from = new Int32Array(count).fill(-1);
    const weak = graph.edgeCode('weak');
    const queue = new Uint32Array(count);
    let end = 1;
    const closed = new Uint8Array(count);
    for (const node of skipped) closed[node] = 1;
    this.from[0] = 0;
    for (let head = 0; head < end; head++) {
      const node = queue[head] as number;
      if (closed[node] === 1) continue;
      for (let edge = first[node] as number; edge < (first[node + 1] as number); edge++) {
        const next = to[edge] as number;
        if (this.from[next] !== -1 || graph.isEdge(edge, weak)) continue;
        this.from[next] = node;
        this.via[next] = edge;
        queue[end++] = next;
      }
    }
  }

  /** The edges from the root to a node. */
  edges(node: number): number[] {
    const found: number[] = [];
    for (; node !== 0 && this.from[node] !== -1; node = this.from[node] as number)
      found.push(this.via[node] as number);
    return node === 0 ? found.reverse() : [];
  }

  /** Where an edge on a way begins. */
  start(edge: number): number {
    return this.from[this.graph.to[edge] as number] as number;
  }
}

/** Instances of ASKED and their lists, and what is in these: groups of nodes. */
function asked(graph: HeapGraph): { lists: Set<number>; groups: number[][] } {
  const lists = new Set<number>();
  const groups: number[][] = [];
  const element = graph.edgeCode('element');
  const elements = (list: number): number[] => {
    lists.add(list);
    const inside = graph.edge(list, 'elements');
    if (inside !== undefined) lists.add(graph.to[inside] as number);
    const found: number[] = [];
    for (let e = graph.first[list] as number; e < (graph.first[list + 1] as number); e++) {
      if (graph.isEdge(e, element)) found.push(graph.to[e] as number);
    }
    return found;
  };
  for (const node of graph.named(ASKED, 'object')) {
    const list = graph.edge(node, 'groups');
    if (list === undefined) continue; // the prototype
    lists.add(node);
    for (const group of elements(graph.to[list] as number)) groups.push(elements(group));
  }
  return { lists, groups };
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** One function for each context. */
function closuresByContext(graph: HeapGraph): Map<number, number> {
  const found = new Map<number, number>();
  for (const closure of graph.typed('closure')) {
    const edge = graph.edge(closure, 'context');
    if (edge !== undefined) found.set(graph.to[edge] as number, closure);
  }
  return found;
}

class Wording {
  private closures: Map<number, number> | undefined;

  constructor(
    private readonly graph: HeapGraph,
    private readonly ways: Ways,
  ) {}

  holding(node: number): Holding {
    const edges = this.ways.edges(node);
    if (edges.length === 0) return { heldBy: undefined, steps: [] };
    const begin = this.beginning(edges);
    const words: string[] = [];
    edges.slice(begin).forEach((edge, i) => {
      const word = this.word(edge, i === 0, edges[begin + i - 1]);
      if (word !== undefined) words.push(word);
    });
    return {
      heldBy: words.join(' -> '),
      steps: edges.map((edge) => `${shown(String(this.graph.edgeName(edge)))}: ${this.at(edge)}`),
    };
  }

  /** What a reader knows by name comes first: a variable, or the global object. */
  private beginning(edges: number[]): number {
    const { graph } = this;
    for (let i = edges.length - 1; i >= 0; i--) {
      const edge = edges[i] as number;
      if (graph.edgeType(edge) === 'context' || this.isLocal(edge)) return i;
    }
    const global = edges.findIndex((edge) => graph.name(graph.to[edge] as number) === 'global');
    if (global >= 0 && global < edges.length - 1) return global + 1;
    const object = edges.findIndex((edge) => graph.type(graph.to[edge] as number) !== 'synthetic');
    return Math.max(0, object);
  }

  /** One step; undefined: it is V8's own. */
  private word(edge: number, first: boolean, before: number | undefined): string | undefined {
    const { graph } = this;
    const type = graph.edgeType(edge);
    const name = graph.edgeName(edge);
    const is = this.kind(graph.to[edge] as number);
    const start = this.ways.start(edge);
    if (this.isLocal(edge)) return `${this.suspended(start)}${is}`;
    if (type === 'context') return `${this.scope(start)}${shown(String(name))}${is}`;
    if (type === 'element') return `[${name}]${is}`;
    if (type === 'property' || type === 'shortcut') {
      const text = shown(String(name));
      const key = IDENTIFIER.test(text) || text.startsWith('#') ? `.${text}` : `[${text}]`;
      return first && graph.name(start) === 'global' ? `global${key}${is}` : `${key}${is}`;
    }
    if (first) return `${this.at(edge)}`;
    return this.entry(start, name, before, is);
  }

  /** An entry of a Map or a Set, which lie in tables of V8's. */
  private entry(
    table: number,
    index: string | number,
    before: number | undefined,
    is: string,
  ): string | undefined {
    const { graph } = this;
    if (before === undefined || graph.edgeName(before) !== 'table') return undefined;
    const collection = graph.name(this.ways.start(before));
    if (!/^(Weak)?(Map|Set)$/.test(collection)) return undefined;
    const key = collection.endsWith('Map')
      ? graph.edge(table, String(Number(index) - 1))
      : undefined;
    if (key === undefined) return `[an entry]${is}`;
    const node = graph.to[key] as number;
    return graph.type(node) === 'string'
      ? `.get(${shown(JSON.stringify(graph.name(node).slice(0, 80)))})${is}`
      : `[an entry]${is}`;
  }

  /** A variable of a function that waits: it lies in an array of its generator's. */
  private isLocal(edge: number): boolean {
    const { graph, ways } = this;
    const via = ways.via[ways.start(edge)] as number;
    return (
      via >= 0 &&
      graph.edgeType(via) === 'internal' &&
      graph.edgeName(via) === 'parameters_and_registers'
    );
  }

  /** Which function that is; `registers` is the array. */
  private suspended(registers: number): string {
    const { graph, ways } = this;
    const edge = graph.edge(ways.start(ways.via[registers] as number), 'function');
    const closure = edge === undefined ? undefined : (graph.to[edge] as number);
    const file = closure === undefined ? undefined : this.fileOf(closure);
    const name = closure === undefined ? '' : graph.name(closure);
    const place = file === undefined ? '' : `${shown(basename(file))}: `;
    return `${place}a variable of ${name === '' ? 'a function that waits' : shown(name)}`;
  }

  /** The file, and the function if it is one, whose variables a context has. */
  private scope(context: number): string {
    const closure = this.closureOf(context);
    const file = closure === undefined ? undefined : this.fileOf(closure);
    return file === undefined ? '' : `${shown(basename(file))}: `;
  }

  /** A function that sees these variables: the one that led here, or any. */
  private closureOf(context: number): number | undefined {
    const { graph, ways } = this;
    const via = ways.via[context] as number;
    if (via >= 0 && graph.type(ways.start(via)) === 'closure') return ways.start(via);
    this.closures ??= closuresByContext(graph);
    return this.closures.get(context);
  }

  private fileOf(closure: number): string | undefined {
    const { graph } = this;
    const shared = graph.edge(closure, 'shared');
    if (shared === undefined) return undefined;
    const info = graph.to[shared] as number;
    for (const name of ['script', 'script_or_debug_info']) {
      const edge = graph.edge(info, name);
      if (edge === undefined) continue;
      const text = graph.name(graph.to[edge] as number);
      if (text !== '') return text.replace(/^.*? \/ (?=.*[\\/])/, '');
    }
    return undefined;
  }

  /** ` (Map)`: what is there, unless it is a tensor. */
  private kind(node: number): string {
    const { graph } = this;
    const type = graph.type(node);
    const name = graph.name(node);
    if (type === 'closure') return ` (function${name === '' ? '' : ` ${shown(name)}`})`;
    return type === 'object' && !/^(Tensor|Variable)$/.test(name) ? ` (${shown(name)})` : '';
  }

  private at(edge: number): string {
    const { graph } = this;
    const node = graph.to[edge] as number;
    return `${shown(graph.name(node)) || graph.type(node)}`;
  }
}

/** The holders of what was asked for when the snapshot was taken, group by group. */
export function holdings(graph: HeapGraph): Holding[][] {
  const { lists, groups } = asked(graph);
  const passing = new Set(lists);
  for (const name of PASSING) for (const node of graph.named(name, 'synthetic')) passing.add(node);
  for (const node of graph.named('(Strong roots)', 'synthetic')) {
    const derefed = graph.edge(node, 'weak_refs_keep_during_job');
    if (derefed !== undefined) passing.add(graph.to[derefed] as number);
  }
  const words = new Wording(graph, new Ways(graph, passing));
  return groups.map((group) => group.map((node) => words.holding(node)));
}
