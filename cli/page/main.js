// What is chosen (a span, a cut, a filter, a place) is here; every view draws itself from it.

class State {
  constructor() {
    Object.assign(this, {span: null, cut: "now", filter: "", site: null, recordings: []});
    this.views = [];
    this.waiting = false;
  }
  load(recordings) {
    this.recordings = recordings;
    this.rows_ = rowsOf(recordings);
  }
  set(changes) {
    Object.assign(this, changes);
    if (this.waiting) return;
    this.waiting = true;  // once a frame, however often a pointer moves
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  draw() { for (const view of this.views) view.draw(); }
  allRows() { return this.rows_; }
  rows() { return this.rows_.filter((row) => this.passes(row.site)); }
  passes(site) {
    return site.text.includes(this.filter.trim().toLowerCase());
  }
}

function describe(recordings) {
  const last = recordings.at(-1);
  document.title = `ebb: ${last.name || last.path}`;
  byId("program").textContent = recordings.map((r) => r.name || r.path).join(" → ");
  const parts = [`pid ${last.pid}`, new Date(last.started).toISOString().replace("T", " ").slice(0, 19) + " UTC", moment(last.seconds), `${count(last.events)} events`];
  if (last.sampled) parts.push("sampled: figures by place are estimates");
  if (!last.ended) parts.push("not ended: killed, or still running");
  if (last.lost > 0) parts.push(`${count(last.lost)} events lost`);
  byId("about").textContent = parts.join(" · ");
  const verdict = byId("verdict");
  verdict.textContent = recordings.length === 1 ? last.verdict.trimEnd() :
    recordings.map((r, i) => `${i === 0 ? "before" : "after"}: ${r.verdict.trimEnd()}`).join("\n");
  verdict.className = last.overview ? "" : last.growing ? "grows" : "flat";
  const first = recordings[0], two = recordings.length > 1;
  const figure = (name, of, show) => make("div", {}, make("dt", {}, name), make("dd", {}, two ? `${show(of(first))} → ${show(of(last))}` : show(of(last))));
  byId("figures").replaceChildren(
    figure("at the end", (r) => r.level, amount), figure("at most", (r) => r.peak, amount),
    figure("given back by reclaim", (r) => r.reclaimed, amount), figure("tensors made", (r) => r.created, count),
    figure("tensors alive", (r) => r.live, count), figure("growth", (r) => (r.growing ? r.perSecond : 0), (v) => (v === 0 ? "none" : `${change(v)}/s`)));
}

function setTheme(theme) {
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  byId("theme").textContent = theme;
  byId("theme").dataset.theme = theme;
}

function start() {
  const state = new State();
  const timeline = new Timeline(state), flame = new Flame(state), sites = new Sites(state), blocks = new Blocks(state);
  state.views = [timeline, flame, sites, blocks];

  const show = (data) => {
    const recordings = data.recordings.map((raw) => new Recording(raw));
    state.load(recordings);
    describe(recordings);
    timeline.load(recordings);
    blocks.load(recordings);
    state.draw();
    document.documentElement.dataset.ready = "yes";
  };

  const nextTheme = () => {
    setTheme({system: "light", light: "dark", dark: "system"}[byId("theme").dataset.theme]);
    state.draw();
  };
  setTheme("system");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { setTheme(byId("theme").dataset.theme); state.draw(); });
  byId("theme").addEventListener("click", nextTheme);
  const help = () => {
    byId("help").hidden = !byId("help").hidden;
    byId("help-button").setAttribute("aria-expanded", String(!byId("help").hidden));
  };
  byId("help-button").addEventListener("click", help);
  addEventListener("resize", () => state.set({}));
  addEventListener("beforeprint", () => { blocks.drawn = null; state.draw(); });

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      byId("filter").value = "";
      flame.reset();
      state.set({span: null, filter: "", site: null});
      return;
    }
    if (event.target instanceof HTMLInputElement) return;
    const cut = CUTS[Number(event.key) - 1];
    if (cut) state.set({cut: cut.id});
    else if (event.key === "/") { event.preventDefault(); byId("filter").focus(); }
    else if (event.key === "t") nextTheme();
    else if (event.key === "?") help();
  });

  const embedded = JSON.parse(byId("data").textContent);
  if (embedded !== null) {
    show(embedded);
    return;
  }
  const served = new Served(state, show);
  served.ask(null).then(() => state.views.push(served));
}

start();
