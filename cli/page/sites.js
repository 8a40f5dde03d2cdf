// The table of places: sorted by any column, filtered, a line of each place's bytes over time.

const PAGE = 100;

const number = (title, of, show = amount) => ({title, of, show});
const COLUMNS = [
  number("alive", (row, s) => row.worth("now", s.span)),
  number("peak", (row, s) => row.worth("peak", s.span)),
  number("made", (row, s) => row.worth("made", s.span)),
  number("tensors", (row) => row.site.tensors, count),
  number("growth", (row) => (row.site.growing ? row.site.perSecond : 0), (v) => (v === 0 ? "" : `${change(v)}/s`)),
];
const COMPARED = [
  number("change", (row, s) => row.worth(s.cut, s.span) - row.worthBefore(s.cut, s.span), change),
  number("before", (row, s) => row.worthBefore(s.cut, s.span)),
  number("after", (row, s) => row.worth(s.cut, s.span)),
];

class Sites {
  constructor(state) {
    this.state = state;
    this.table = byId("sites");
    this.sort = 0;
    this.limit = PAGE;
    this.open = new Set();
    byId("filter").addEventListener("input", (event) => state.set({filter: event.target.value}));
    byId("more-sites").addEventListener("click", () => { this.limit += 10 * PAGE; this.draw(); });
  }

  get columns() { return this.state.recordings.length > 1 ? COMPARED : COLUMNS; }

  draw() {
    const rows = this.sorted();
    this.table.tHead.replaceChildren(this.header());
    this.table.tBodies[0].replaceChildren(...rows.slice(0, this.limit).map((row) => this.row(row)));
    byId("more-sites").hidden = rows.length <= this.limit;
    const all = this.state.allRows().length, other = this.state.recordings.at(-1).otherSites;
    byId("sites-count").textContent = `${count(rows.length)} of ${count(all + other)}${other > 0 ? `, the ${count(other)} smallest are not listed` : ""}`;
    const colours = {calm: colour("in-use"), grows: colour("bad"), before: colour("soft")};
    for (const canvas of this.table.querySelectorAll("canvas")) this.sparkline(canvas, colours);
  }

  sorted() {
    const column = this.columns[this.sort], state = this.state;
    const size = (row) => { const value = column.of(row, state); return state.recordings.length > 1 && this.sort === 0 ? Math.abs(value) : value; };
    const keyed = state.rows().map((row) => [row, size(row)]);
    const grows = (row) => (this.sort === 0 && state.recordings.length === 1 && row.site.growing ? 1 : 0);
    return keyed.sort((a, b) => grows(b[0]) - grows(a[0]) || b[1] - a[1]).map(([row]) => row);
  }

  header() {
    const cells = this.columns.map((column, i) => {
      const button = make("button", {type: "button"}, column.title);
      button.addEventListener("click", () => { this.sort = i; this.draw(); });
      const cell = make("th", {scope: "col"}, button);
      if (i === this.sort) cell.setAttribute("aria-sort", "descending");
      return cell;
    });
    return make("tr", {}, ...cells, make("th", {scope: "col"}, "over time"), make("th", {scope: "col", className: "place"}, "place"));
  }

  row(row) {
    const cells = this.columns.map((column) => make("td", {}, column.show(column.of(row, this.state))));
    if (row.site.growing && this.columns === COLUMNS) cells.at(-1).className = "grows-fast";
    const canvas = make("canvas", {"aria-hidden": "true"});
    canvas.row = row;
    const title = make("button", {type: "button", "aria-expanded": String(this.open.has(row.key))}, row.site.title);
    const place = make("td", {className: "place"}, title, ...this.details(row));
    const line = make("tr", {className: this.state.site === row.key ? "chosen" : ""}, ...cells, make("td", {}, canvas), place);
    title.addEventListener("click", () => this.choose(row));
    return line;
  }

  details(row) {
    const parts = [];
    const {site} = row;
    if (site.holder) parts.push(make("div", {className: "holder"}, `held by: ${site.holder}`));
    if (!this.open.has(row.key)) return parts;
    const callers = site.stack.slice(1).map((frame) => `called by ${frame}`);
    const given = site.back > 0 ? [`${amount(site.back)} given back by reclaim`] : [];
    parts.push(make("div", {className: "more"}, [...callers, ...(site.shapes ? [site.shapes] : []), ...given].join("\n")));
    return parts;
  }

  choose(row) {
    if (!this.open.delete(row.key)) this.open.add(row.key);
    this.state.set({site: this.open.has(row.key) ? row.key : null});
    [...this.table.querySelectorAll(".place button")].find((b) => b.textContent === row.site.title)?.focus();
  }

  sparkline(canvas, colours) {
    const {context, width, height} = prepared(canvas, 110, 22);  // as the style has it
    const draw = (site, colour_) => {
      if (!site) return;
      const series = site.liveSeries, top = Math.max(1, ...series);
      context.strokeStyle = colour_;
      context.beginPath();
      series.forEach((y, i) => context.lineTo(i / Math.max(1, series.length - 1) * width, height - 2 - y / top * (height - 4)));
      context.stroke();
    };
    if (this.state.recordings.length > 1) draw(canvas.row.before, colours.before);
    draw(canvas.row.after, canvas.row.site.growing ? colours.grows : colours.calm);
  }
}
