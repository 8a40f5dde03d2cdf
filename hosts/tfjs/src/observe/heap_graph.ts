// A heap snapshot of V8's as a graph: numbers in arrays, and strings only where somebody asks for one.
import { HeapFile } from './heap_file';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const END = 0x5d;

interface Meta {
  node_fields: string[];
  node_types: [string[], ...unknown[]];
  edge_fields: string[];
  edge_types: [string[], ...unknown[]];
}

interface Head {
  meta: Meta;
  node_count: number;
  edge_count: number;
}

function headOf(file: HeapFile): Head {
  return (JSON.parse(`${file.head('nodes')}]}`) as { snapshot: Head }).snapshot;
}

/** Which numbers of a row these are. */
function places(fields: string[], wanted: [string, string, string]): [number, number, number] {
  const found = wanted.map((field) => fields.indexOf(field));
  const missing = wanted[found.indexOf(-1)];
  if (missing !== undefined) throw new Error(`the heap snapshot has no field ${missing}`);
  return found as [number, number, number];
}

/** Where each string begins, at its quote. */
function stringsAt(bytes: Buffer): Float64Array {
  let starts = new Float64Array(1 << 16);
  let count = 0;
  let at = 0;
  while (at < bytes.length && bytes[at] !== END) {
    if (bytes[at] !== QUOTE) {
      at++;
      continue;
    }
    if (count === starts.length) {
      const more = new Float64Array(2 * count);
      more.set(starts);
      starts = more;
    }
    starts[count++] = at++;
    while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    at++;
  }
  return starts.subarray(0, count);
}

export class HeapGraph {
  readonly count: number;
  /** Edges of node i: from first[i] to first[i + 1]. */
  readonly first: Uint32Array;
  /** The node that an edge leads to. */
  readonly to: Uint32Array;

  private readonly nodeTypes: Uint8Array;
  private readonly nodeNames: Uint32Array;
  private readonly edgeTypes: Uint8Array;
  private readonly edgeNames: Uint32Array;
  private readonly nodeTypeNames: string[];
  private readonly edgeTypeNames: string[];
  private readonly bytes: Buffer; // of the strings
  private readonly strings: Float64Array;
  private readonly indices = new Map<string, number>();

  constructor(path: string) {
    const file = new HeapFile(path);
    const { meta, ...counts } = headOf(file);
    this.count = counts.node_count;
    this.nodeTypeNames = meta.node_types[0];
    this.edgeTypeNames = meta.edge_types[0];
    this.nodeTypes = new Uint8Array(this.count);
    this.nodeNames = new Uint32Array(this.count);
    this.first = new Uint32Array(this.count + 1);
    this.edgeTypes = new Uint8Array(counts.edge_count);
    this.edgeNames = new Uint32Array(counts.edge_count);
    this.to = new Uint32Array(counts.edge_count);
    this.readNodes(file, meta.node_fields);
    this.readEdges(file, meta);
    this.bytes = file.rest('strings');
    this.strings = stringsAt(this.bytes);
    file.close();
  }

  private readNodes(file: HeapFile, fields: string[]): void {
    const { nodeTypes, nodeNames, first, count } = this;
    const [type, name, edges] = places(fields, ['type', 'name', 'edge_count']);
    file.rows(count, fields.length, (row, numbers) => {
      nodeTypes[row] = numbers[type] as number;
      nodeNames[row] = numbers[name] as number;
      first[row + 1] = (first[row] as number) + (numbers[edges] as number);
    });
    if (first[count] !== this.to.length) throw new Error('the heap snapshot contradicts itself');
  }

  private readEdges(file: HeapFile, meta: Meta): void {
    const { edgeTypes, edgeNames, to } = this;
    const width = meta.node_fields.length;
    const [type, name, node] = places(meta.edge_fields, ['type', 'name_or_index', 'to_node']);
    file.enter('edges');
    file.rows(to.length, meta.edge_fields.length, (row, numbers) => {
      edgeTypes[row] = numbers[type] as number;
      edgeNames[row] = numbers[name] as number;
      to[row] = (numbers[node] as number) / width;
    });
  }

  type(node: number): string {
    return this.nodeTypeNames[this.nodeTypes[node] as number] as string;
  }

  name(node: number): string {
    return this.string(this.nodeNames[node] as number);
  }

  edgeType(edge: number): string {
    return this.edgeTypeNames[this.edgeTypes[edge] as number] as string;
  }

  /** What kind of edge `name` is, as a number: to compare many. */
  edgeCode(name: string): number {
    return this.edgeTypeNames.indexOf(name);
  }

  isEdge(edge: number, code: number): boolean {
    return this.edgeTypes[edge] === code;
  }

  /** A property's name, or an index. */
  edgeName(edge: number): string | number {
    const value = this.edgeNames[edge] as number;
    const type = this.edgeType(edge);
    return type === 'element' || type === 'hidden' ? value : this.string(value);
  }

  /** Nodes with this name and type. */
  named(name: string, type: string): number[] {
    const code = this.nodeTypeNames.indexOf(type);
    const index = this.indexOf(name);
    const found: number[] = [];
    for (let node = 0; index >= 0 && node < this.count; node++) {
      if (this.nodeNames[node] === index && this.nodeTypes[node] === code) found.push(node);
    }
    return found;
  }

  typed(type: string): number[] {
    const code = this.nodeTypeNames.indexOf(type);
    const found: number[] = [];
    this.nodeTypes.forEach((each, node) => {
      if (each === code) found.push(node);
    });
    return found;
  }

  /** The edge of a node that has this name; numbers are no names. */
  edge(node: number, name: string): number | undefined {
    const index = this.indexOf(name);
    const element = this.edgeCode('element');
    const hidden = this.edgeCode('hidden');
    for (let e = this.first[node] as number; e < (this.first[node + 1] as number); e++) {
      if (this.edgeNames[e] !== index) continue;
      if (!this.isEdge(e, element) && !this.isEdge(e, hidden)) return e;
    }
    return undefined;
  }

  /** The number of a string; -1: no node and no edge is called so. */
  private indexOf(text: string): number {
    let index = this.indices.get(text);
    if (index === undefined) {
      index = this.search(text);
      this.indices.set(text, index);
    }
    return index;
  }

  private search(text: string): number {
    const quoted = Buffer.from(JSON.stringify(text));
    let at = this.bytes.indexOf(quoted);
    for (; at >= 0; at = this.bytes.indexOf(quoted, at + 1)) {
      let low = 0;
      let high = this.strings.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((this.strings[middle] as number) < at) low = middle + 1;
        else high = middle;
      }
      if (this.strings[low] === at) return low; // else it lies within another string
    }
    return -1;
  }

  private string(index: number): string {
    const from = this.strings[index];
    if (from === undefined) return '';
    let to = from + 1;
    while (this.bytes[to] !== QUOTE) to += this.bytes[to] === BACKSLASH ? 2 : 1;
    return JSON.parse(this.bytes.toString('utf8', from, to + 1)) as string;
  }
}
