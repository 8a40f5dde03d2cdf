// The memory of a device: time to the right, address upwards, a rectangle for the life of each block.

class Blocks {
  constructor(state) {
    this.state = state;
    this.canvas = byId("blocks");
    this.readout = byId("blocks-readout");
    this.chosen = 0;
    this.canvas.addEventListener("pointermove", (event) => this.look(event.offsetX, event.offsetY));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  load(recordings) {
    this.recording = recordings.at(-1);
    this.drawn = null;
    this.devices = this.recording.blocks;
    byId("blocks-section").hidden = this.devices.length === 0;
    this.chosen = Math.min(this.chosen, Math.max(0, this.devices.length - 1));
    byId("block-devices").replaceChildren(...this.devices.map((device, i) => {
      const name = this.recording.devices[device.device] ?? `device ${device.device}`;
      const button = make("button", {type: "button", "aria-pressed": String(i === this.chosen)}, name);
      button.addEventListener("click", () => { this.chosen = i; this.load(recordings); this.draw(); });
      return button;
    }));
  }

  // The span in sight.
  get span() { return this.state.span ?? [0, this.recording.duration]; }
  x(seconds) { return MARGIN.left + (seconds - this.span[0]) / (this.span[1] - this.span[0]) * (this.width - MARGIN.left - MARGIN.right); }
  y(offset) { return this.height - MARGIN.bottom - offset / this.device.extent * (this.height - MARGIN.top - MARGIN.bottom); }

  draw() {
    if (this.devices.length === 0) return;
    this.device = this.devices[this.chosen];
    const shape = [this.state.span, this.state.filter, this.chosen, this.cursor, document.documentElement.dataset.theme,
                   this.canvas.clientWidth, this.canvas.clientHeight].join();
    if (shape === this.drawn) return;  // another cut or place changes nothing here
    this.drawn = shape;
    const {context, width, height} = prepared(this.canvas);
    Object.assign(this, {context, width, height});
    const blocks = this.recording.blocksOf(this.device);
    this.drawAxes();
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, MARGIN.top, width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom);
    context.clip();
    const dark = document.documentElement.dataset.theme === "dark";
    const colours = this.recording.sites.map((site) => `hsl(${hueOf(site.key)} 60% ${dark ? 58 : 48}%)`);
    const shown = this.recording.sites.map((site) => this.state.passes(site));
    let last = null;
    for (const i of blocks.bySite) {
      if (blocks.end[i] < this.span[0] || blocks.begin[i] > this.span[1]) continue;
      const site = blocks.site[i], left = this.x(blocks.begin[i]);
      if (site !== last) context.fillStyle = site < 0 || !shown[site] ? colour_soft(dark) : colours[site];
      last = site;
      const bottom = this.y(blocks.offset[i]), top = this.y(blocks.offset[i] + blocks.bytes[i]);
      context.fillRect(left, top, Math.max(0.6, this.x(blocks.end[i]) - left), Math.max(0.6, bottom - top - 0.4));
    }
    context.restore();
    const all = this.recording.allBlocks, drawn = this.devices.reduce((sum, d) => sum + d.count, 0);
    byId("blocks-count").textContent = drawn === all ? `${count(all)} blocks` : `the ${count(drawn)} largest of ${count(all)} blocks (bytes times life)`;
    this.drawCursor();
    this.say(null);
  }

  drawAxes() {
    const c = this.context;
    c.fillStyle = colour("soft");
    c.strokeStyle = colour("line");
    c.textAlign = "right";
    c.textBaseline = "middle";
    const step = roundStep(this.device.extent, 5, true);
    for (let offset = 0; offset <= this.device.extent; offset += step) c.fillText(amount(offset), MARGIN.left - 6, this.y(offset));
    for (const offset of this.device.regions.slice(1, 200)) {
      c.beginPath(); c.moveTo(MARGIN.left, this.y(offset)); c.lineTo(this.width - MARGIN.right, this.y(offset)); c.stroke();
    }
    c.textAlign = "center";
    c.textBaseline = "alphabetic";
    const tick = roundStep(this.span[1] - this.span[0], 8, false);
    for (let s = Math.ceil(this.span[0] / tick) * tick; s <= this.span[1] * 1.0001; s += tick) c.fillText(moment(s), this.x(s), this.height - 5);
  }

  drawCursor() {
    if (!this.cursor) return;
    this.context.strokeStyle = colour("ink");
    this.context.strokeRect(this.cursor[0] - 3.5, this.cursor[1] - 3.5, 7, 7);
  }

  blockAt(x, y) {
    const blocks = this.recording.blocksOf(this.device);
    const time = this.span[0] + (x - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right) * (this.span[1] - this.span[0]);
    const offset = (this.height - MARGIN.bottom - y) / (this.height - MARGIN.top - MARGIN.bottom) * this.device.extent;
    const slack = (this.span[1] - this.span[0]) / this.width, high = this.device.extent / this.height;
    let found = -1;
    for (let i = 0; i < blocks.n; ++i) {
      if (blocks.begin[i] - slack > time || blocks.end[i] + slack < time) continue;
      if (offset < blocks.offset[i] || offset > blocks.offset[i] + Math.max(blocks.bytes[i], high)) continue;
      found = i;
    }
    return found;
  }

  look(x, y) { this.say(this.blockAt(x, y)); }

  say(i) {
    const how = this.device.byAddress ? "by address, what nobody used left out" : "where there is room: their addresses are another runtime's";
    if (i === null || i < 0) {
      this.readout.textContent = `${amount(this.device.extent)} ${how}`;
      return;
    }
    const blocks = this.recording.blocksOf(this.device), site = this.recording.sites[blocks.site[i]];
    const life = blocks.alive[i] ? `from ${moment(blocks.begin[i])} on, alive` : `from ${moment(blocks.begin[i])}, for ${moment(blocks.end[i] - blocks.begin[i])}`;
    this.readout.textContent = `${amount(blocks.bytes[i])} · ${life} · ${site ? site.title : "a place that is not listed"}`;
  }

  key(event) {
    const by = {ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -6], ArrowDown: [0, 6]}[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const [x, y] = this.cursor ?? [this.width / 2, this.height / 2];
    this.cursor = [Math.max(MARGIN.left, Math.min(this.width - MARGIN.right, x + by[0])),
                   Math.max(MARGIN.top, Math.min(this.height - MARGIN.bottom, y + by[1]))];
    this.draw();
    this.look(...this.cursor);
  }
}

const colour_soft = (dark) => (dark ? "#2f3b48" : "#e3e7ec");
