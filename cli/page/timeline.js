// Figures over time. A span is taken by dragging, or with Shift and the arrow keys.

const LINES = [
  {id: "in-use", label: "in use", of: (r) => summed(r, "inUse")},
  {id: "spike", label: "most between", of: (r) => spikes(r)},
  {id: "committed", label: "committed", of: (r) => summed(r, "committed")},
  {id: "budget", label: "budget", of: (r) => summed(r, "budget"), dashed: true},
  {id: "resident", label: "resident", of: (r) => against(r, r.counters.resident)},
  {id: "heap", label: "host heap", of: (r) => against(r, r.counters.heap)},
];
const MARGIN = {left: 66, right: 26, top: 14, bottom: 20};

function against(recording, values) {
  return {x: recording.counters.time, y: values};
}
function summed(recording, what) {
  const devices = Object.values(recording.counters.devices);
  return against(recording, recording.counters.time.map((_, i) => {
    let sum = 0, known = false;
    for (const device of devices) {
      if (what === "budget" && device.budget[i] === 0) continue;
      sum += device[what][i];
      known = true;
    }
    return known ? sum : -1;
  }));
}
function spikes(recording) {
  return {x: Array.from(recording.mostSeries, (_, i) => Math.min(recording.origin + (i + 0.5) * recording.width, recording.end)),
          y: recording.mostSeries};
}
const isKnown = (line) => line.y.some((y) => y > 0);

class Timeline {
  constructor(state) {
    this.state = state;
    this.canvas = byId("timeline");
    this.readout = byId("timeline-readout");
    this.hidden = new Set();
    this.cursor = null;
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("dblclick", () => state.set({span: null}));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    byId("clear-span").addEventListener("click", () => state.set({span: null}));
  }

  load(recordings) {
    this.recordings = recordings;
    this.duration = Math.max(...recordings.map((r) => r.duration));
    this.lines = recordings.map((r) => LINES.map((line) => ({...line, ...line.of(r)})).filter(isKnown));
    const present = LINES.filter((line) => this.lines.some((all) => all.some((l) => l.id === line.id)));
    byId("legend").replaceChildren(...present.map((line) => this.chip(line)));
  }

  chip(line) {
    const swatch = make("span", {className: "swatch"});
    swatch.style.background = `var(--${line.id})`;
    const button = make("button", {type: "button", "aria-pressed": String(!this.hidden.has(line.id))}, swatch, line.label);
    button.addEventListener("click", () => {
      if (!this.hidden.delete(line.id)) this.hidden.add(line.id);
      button.setAttribute("aria-pressed", String(!this.hidden.has(line.id)));
      this.draw();
    });
    return button;
  }

  x(seconds) { return MARGIN.left + seconds / this.duration * (this.width - MARGIN.left - MARGIN.right); }
  y(bytes) { return this.height - MARGIN.bottom - bytes / this.top * (this.height - MARGIN.top - MARGIN.bottom); }
  secondsAt(event) {
    const part = (event.offsetX - MARGIN.left) / (this.canvas.clientWidth - MARGIN.left - MARGIN.right);
    return Math.max(0, Math.min(1, part)) * this.duration;
  }

  shown(recording) { return this.lines[recording].filter((line) => !this.hidden.has(line.id)); }

  draw() {
    const {context, width, height} = prepared(this.canvas);
    Object.assign(this, {context, width, height});
    let top = 1;
    this.lines.forEach((_, i) => { for (const line of this.shown(i)) for (const y of line.y) top = Math.max(top, y); });
    this.top = top * 1.05;
    this.drawSpan();
    this.drawAxes();
    this.drawCollections();
    this.lines.forEach((_, i) => this.shown(i).forEach((line) => this.drawLine(line, this.lines.length > 1 && i === 0)));
    this.drawMarks();
    this.drawCursor();
    this.say();
    byId("clear-span").hidden = this.state.span === null;
  }

  drawSpan() {
    if (this.state.span === null) return;
    const [from, to] = this.state.span.map((s) => this.x(s));
    this.context.fillStyle = colour("span");
    this.context.fillRect(from, MARGIN.top, Math.max(1, to - from), this.height - MARGIN.top - MARGIN.bottom);
  }

  drawAxes() {
    const c = this.context;
    c.strokeStyle = colour("line");
    c.fillStyle = colour("soft");
    c.lineWidth = 1;
    c.textBaseline = "middle";
    c.textAlign = "right";
    const step = roundStep(this.top, 4, true);
    for (let bytes = 0; bytes <= this.top; bytes += step) {
      const y = Math.round(this.y(bytes)) + 0.5;
      c.beginPath(); c.moveTo(MARGIN.left, y); c.lineTo(this.width - MARGIN.right, y); c.stroke();
      c.fillText(amount(bytes), MARGIN.left - 6, y);
    }
    c.textAlign = "center";
    c.textBaseline = "alphabetic";
    const tick = roundStep(this.duration, 8, false);
    for (let s = 0; s <= this.duration * 1.0001; s += tick) c.fillText(s === 0 ? "0" : moment(s), this.x(s), this.height - 5);
  }

  drawLine(line, pale) {
    const c = this.context;
    c.strokeStyle = colour(line.id);
    c.globalAlpha = pale ? 0.4 : 1;
    c.lineWidth = line.id === "in-use" ? 2 : 1.3;
    c.setLineDash(line.dashed ? [5, 4] : pale ? [2, 2] : []);
    c.beginPath();
    let open = false;
    for (let i = 0; i < line.x.length; ++i) {
      if (line.y[i] < 0) { open = false; continue; }
      if (open) c.lineTo(this.x(line.x[i]), this.y(line.y[i]));
      else c.moveTo(this.x(line.x[i]), this.y(line.y[i]));
      open = true;
    }
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  drawCollections() {
    const last = this.recordings.at(-1), bottom = this.height - MARGIN.bottom;
    this.context.fillStyle = colour("soft");
    for (const [bucket] of last.collections) this.context.fillRect(this.x(last.origin + (bucket + 0.5) * last.width), bottom - 5, 1, 5);
  }

  drawMarks() {
    const c = this.context;
    c.strokeStyle = colour("soft");
    c.fillStyle = colour("soft");
    c.textAlign = "left";
    c.setLineDash([1, 3]);
    for (const [time, text] of this.recordings.at(-1).marks.slice(0, 40)) {
      const x = Math.round(this.x(time)) + 0.5;
      c.beginPath(); c.moveTo(x, MARGIN.top); c.lineTo(x, this.height - MARGIN.bottom); c.stroke();
      c.fillText(text.slice(0, 24), x + 4, MARGIN.top - 4);
    }
    c.setLineDash([]);
  }

  drawCursor() {
    if (this.cursor === null) return;
    const x = Math.round(this.x(this.cursor)) + 0.5;
    this.context.strokeStyle = colour("ink");
    this.context.globalAlpha = 0.5;
    this.context.beginPath(); this.context.moveTo(x, MARGIN.top); this.context.lineTo(x, this.height - MARGIN.bottom); this.context.stroke();
    this.context.globalAlpha = 1;
  }

  say() {
    const parts = [];
    if (this.state.span !== null) parts.push(`span ${moment(this.state.span[0])} to ${moment(this.state.span[1])}`);
    if (this.cursor !== null) {
      parts.push(`at ${moment(this.cursor)}`);
      for (const line of this.shown(this.lines.length - 1)) {
        const value = valueAt(line, this.cursor);
        if (value >= 0) parts.push(`${line.label} ${amount(value)}`);
      }
    }
    const {collections} = this.recordings.at(-1);
    const sum = collections.reduce((all, [, n, ms]) => [all[0] + n, all[1] + ms], [0, 0]);
    if (parts.length === 0) parts.push(`drag over a span to look into it${sum[0] > 0 ? `; ${count(sum[0])} collections took ${sum[1].toFixed(1)} ms` : ""}`);
    this.readout.textContent = parts.join(" · ");
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.from = this.secondsAt(event);
  }
  move(event) {
    this.cursor = this.secondsAt(event);
    if (this.from === undefined) { this.draw(); return; }
    const span = [this.from, this.cursor].sort((a, b) => a - b);
    if (span[1] - span[0] > this.duration / 500) this.state.set({span});
  }
  release(event) {
    const still = Math.abs(this.secondsAt(event) - this.from) <= this.duration / 500;
    this.from = undefined;
    if (still) this.state.set({span: null});
  }

  key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const before = this.cursor ?? 0;
    this.cursor = Math.max(0, Math.min(this.duration, before + step * this.duration / 100));
    if (!event.shiftKey) { this.anchor = undefined; this.draw(); return; }
    this.anchor ??= before;
    this.state.set({span: [this.anchor, this.cursor].sort((a, b) => a - b)});
  }
}

function valueAt(line, seconds) {
  let low = 0, high = line.x.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.x[middle] < seconds) low = middle + 1;
    else high = middle;
  }
  return low > 0 && seconds - line.x[low - 1] < line.x[low] - seconds ? line.y[low - 1] : line.y[low];
}
