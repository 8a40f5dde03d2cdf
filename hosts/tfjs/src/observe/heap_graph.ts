// A heap snapshot of V8's as a graph. A snapshot may be longer than the longest string, so it is read as bytes: numbers
// into arrays, and strings only where somebody asks for one.

const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const END = 0x5d;
const ZERO = 0x30;

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

/** Where the array behind `"name":[` begins. */
function arrayAt(bytes: Buffer, name: string, from: number): number {
  const key = `"${name}":[`;
  const at = bytes.indexOf(key, from);
  if (at < 0) throw new Error(`the heap snapshot has no ${name}: it is cut short`);
  return at + key.length;
}

/** The numbers from `at` to the end of their array, only those columns of each row that are wanted. */
function columns(bytes: Buffer, at: number, width: number, rows: number, wanted: number[]) {
  const places = new Int32Array(width).fill(-1);
  wanted.forEach((column, i) => (places[column] = i));
  const found = wanted.map(() => new Uint32Array(rows));
  let row = 0;
  let column = 0;
  let value = 0;
  let digits = false;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte >= ZERO && byte <= ZERO + 9) {
      value = value * 10 + (byte - ZERO);
      digits = true;
      continue;
    }
    if ((byte !== COMMA && byte !== END) || !digits) {
      if (byte === END) break;
      continue; // the line's end, a minus
    }
    const place = places[column] as number;
    if (place >= 0 && row < rows) (found[place] as Uint32Array)[row] = value;
    value = 0;
    digits = false;
    if (++column === width) {
      column = 0;
      row++;
    }
    if (byte === END) break;
  }
  if (row !== rows) throw new Error('the heap snapshot is cut short');
  return { found, at };
}

/** Where each string begins, at its quote. */
function stringsAt(bytes: Buffer, at: number): Float64Array {
  let starts = new Float64Array(1 << 16);
  let count = 0;
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

  private readonly nodeTypes: Uint32Array;
  private readonly nodeNames: Uint32Array;
  private readonly edgeTypes: Uint32Array;
  private readonly edgeNames: Uint32Array;
  private readonly nodeTypeNames: string[];
  private readonly edgeTypeNames: string[];
  private readonly strings: Float64Array;
  private readonly indices = new Map<string, number>();

  constructor(private readonly bytes: Buffer) {
    const nodesAt = arrayAt(bytes, 'nodes', 0);
    const head = bytes.subarray(0, nodesAt).toString('utf8');
    const { snapshot } = JSON.parse(`${head}]}`) as { snapshot: Head };
    const { meta } = snapshot;
    const node = (name: string): number => meta.node_fields.indexOf(name);
    const edge = (name: string): number => meta.edge_fields.indexOf(name);
    const width = meta.node_fields.length;
    this.count = snapshot.node_count;
    const nodes = columns(bytes, nodesAt, width, this.count, [
      node('type'),
      node('name'),
      node('edge_count'),
    ]);
    const edgesAt = arrayAt(bytes, 'edges', nodes.at);
    const edges = columns(bytes, edgesAt, meta.edge_fields.length, snapshot.edge_count, [
      edge('type'),
      edge('name_or_index'),
      edge('to_node'),
    ]);
    this.strings = stringsAt(bytes, arrayAt(bytes, 'strings', edges.at));
    [this.nodeTypes, this.nodeNames] = nodes.found as [Uint32Array, Uint32Array];
    [this.edgeTypes, this.edgeNames, this.to] = edges.found as [
      Uint32Array,
      Uint32Array,
      Uint32Array,
    ];
    this.to.forEach((at, i) => (this.to[i] = at / width));
    this.nodeTypeNames = meta.node_types[0];
    this.edgeTypeNames = meta.edge_types[0];
    this.first = new Uint32Array(this.count + 1);
    const counts = nodes.found[2] as Uint32Array;
    for (let i = 0; i < this.count; i++)
      this.first[i + 1] = (this.first[i] as number) + (counts[i] as number);
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
    let at = this.bytes.indexOf(quoted, this.strings[0] ?? this.bytes.length);
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
