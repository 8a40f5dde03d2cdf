// The flame graph: callers above, the line that made the tensors below. Width is bytes; where two recordings are
// compared, width is the larger of both and colour says which has more.

const ROW = 22;
const LEAST_PIXELS = 1.5;

function treeOf(entries) {
  const root = {name: "all places", children: new Map(), value: 0, before: 0, depth: 0, parent: null};
  for (const {stack, value, before} of entries) {
    let node = root;
    for (let i = stack.length - 1; i >= -1; --i) {
      node.value += value;
      node.before += before;
      if (i < 0) break;
      let child = node.children.get(stack[i]);
      if (child === undefined) {
        child = {name: stack[i], children: new Map(), value: 0, before: 0, depth: node.depth + 1, parent: node};
        node.children.set(stack[i], child);
      }
      node = child;
    }
  }
  return root;
}

class Flame {
  constructor(state) {
    this.state = state;
    this.box = byId("flame");
    this.readout = byId("flame-readout");
    this.path = [];
    this.box.addEventListener("click", (event) => this.zoom(event.target.node));
    this.box.addEventListener("pointermove", (event) => this.say(event.target.node));
    this.box.addEventListener("pointerleave", () => this.say(null));
    this.box.addEventListener("focusin", (event) => this.say(event.target.node));
    this.box.addEventListener("keydown", (event) => this.key(event));
    byId("unzoom").addEventListener("click", () => this.zoom(this.root));
    byId("cuts").append(...CUTS.map((cut, i) => {
      const button = make("button", {type: "button", title: `${cut.title} (${i + 1})`, "aria-pressed": "false"}, cut.label);
      button.dataset.cut = cut.id;
      button.addEventListener("click", () => state.set({cut: cut.id}));
      return button;
    }));
  }

  draw() {
    const {cut, span} = this.state;
    for (const button of byId("cuts").children) button.setAttribute("aria-pressed", String(button.dataset.cut === cut));
    this.compares = this.state.recordings.length > 1;
    this.root = treeOf(this.state.rows().map((row) => ({stack: row.stack, value: row.worth(cut, span), before: row.worthBefore(cut, span)})));
    let from = this.root;
    for (const name of this.path) from = from.children.get(name) ?? from;
    this.from = from;
    this.nodes = [];
    const width = this.box.clientWidth;
    for (const above of ancestors(from)) this.add(above, 0, width, above !== from);
    this.layOut(from, 0, width);
    this.box.style.height = `${ROW * (1 + Math.max(0, ...this.nodes.map((n) => n.depth)))}px`;
    this.box.replaceChildren(...this.nodes.map((node) => this.element(node)));
    byId("unzoom").hidden = from === this.root;
    this.say(null);
  }

  size(node) { return this.compares ? Math.max(node.value, node.before) : node.value; }

  layOut(node, left, width) {
    const children = [...node.children.values()].sort((a, b) => this.size(b) - this.size(a) || (a.name < b.name ? -1 : 1));
    const whole = Math.max(this.size(node), children.reduce((sum, child) => sum + this.size(child), 0));
    for (const child of children) {
      const wide = whole > 0 ? width * this.size(child) / whole : 0;
      if (wide < LEAST_PIXELS) continue;
      this.add(child, left, wide, false);
      this.layOut(child, left, wide);
      left += wide;
    }
  }

  add(node, left, width, dim) {
    node.box = {left, width, dim};
    this.nodes.push(node);
  }

  element(node) {
    const label = `${node.name}: ${this.figures(node)}`;
    const div = make("div", {className: node.box.dim ? "dim" : "", role: "treeitem", tabIndex: 0, title: label, "aria-level": String(node.depth + 1)});
    div.textContent = node.depth === 0 ? `all places, ${amount(node.value)}` : node.name;
    div.style.left = `${node.box.left}px`;
    div.style.width = `${node.box.width}px`;
    div.style.top = `${node.depth * ROW}px`;
    div.style.background = this.colourOf(node);
    div.node = node;
    node.element = div;
    return div;
  }

  colourOf(node) {
    if (node.depth === 0) return "hsl(212 24% 82%)";
    if (!this.compares) return `hsl(${20 + hueOf(node.name) % 45} 85% ${68 + hueOf(node.name) % 9}%)`;
    const by = (node.value - node.before) / Math.max(node.value, node.before, 1);
    return `hsl(${by >= 0 ? 8 : 212} ${Math.round(Math.abs(by) * 85)}% 78%)`;
  }

  figures(node) {
    if (this.compares) return `${amount(node.before)} to ${amount(node.value)} (${change(node.value - node.before)})`;
    const whole = Math.max(1, this.root.value);
    return `${amount(node.value)}, ${(100 * node.value / whole).toFixed(1)}%`;
  }

  say(node) {
    const cut = CUTS.find((c) => c.id === this.state.cut);
    const of = this.state.span === null ? cut.title : `${cut.label} in the span`;
    this.readout.textContent = node ? `${node.name}: ${this.figures(node)}` :
      this.root.value === 0 && this.root.before === 0 ? `nothing: ${of}` : `${this.figures(this.root)}: ${of}`;
  }

  zoom(node) {
    if (!node) return;
    this.path = ancestors(node).slice(1).map((n) => n.name);
    this.draw();
    node = this.nodes.find((n) => n === this.from);
    node?.element.focus({preventScroll: true});
  }
  reset() { this.path = []; }

  key(event) {
    const node = event.target.node;
    if (!node) return;
    const siblings = node.parent === null ? [] : this.nodes.filter((n) => n.parent === node.parent);
    const to = {ArrowUp: node.parent, ArrowDown: this.nodes.find((n) => n.parent === node),
                ArrowLeft: siblings[siblings.indexOf(node) - 1], ArrowRight: siblings[siblings.indexOf(node) + 1]};
    if (event.key === "Enter" || event.key === " ") this.zoom(node);
    else if (!(event.key in to)) return;
    else to[event.key]?.element?.focus();
    event.preventDefault();
  }
}

// Outermost first, the node itself last.
function ancestors(node) {
  const all = [];
  for (let at = node; at !== null; at = at.parent) all.unshift(at);
  return all;
}
