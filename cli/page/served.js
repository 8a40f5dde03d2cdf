// Where the page has no data in itself, `ebb view` served it and has them: of the whole recording, of a span in more
// detail, or of a process that goes on.

const AGAIN = 2000;  // ms

class Served {
  constructor(state, show) {
    Object.assign(this, {state, show});
    byId("closer").addEventListener("click", () => this.ask(state.span));
    byId("clear-span").addEventListener("click", () => { if (this.close) this.ask(null); });
  }

  // A button for it: the timeline tells when there is a span. Of a process that runs only the whole is to be had.
  draw() { byId("closer").hidden = this.state.span === null || (this.live && !this.overview); }

  async ask(span) {
    const number = this.asked = (this.asked ?? 0) + 1, closer = byId("closer");
    closer.disabled = span !== null;  // a span waits until all has been read once
    try {
      await this.answered(span, () => number === this.asked);
    } finally {
      if (number === this.asked) closer.disabled = false;
    }
  }

  // What another question has overtaken is not shown.
  async answered(span, wanted) {
    const query = span === null ? "" : `?from=${span[0].toFixed(6)}&to=${span[1].toFixed(6)}`;
    try {
      const answer = await fetch(`data.json${query}`, {credentials: "same-origin"});
      if (!answer.ok) throw new Error(await answer.text());
      const data = await answer.json();
      if (!wanted()) return;
      this.close = span !== null;
      this.live = data.live;
      this.overview = data.recordings.at(-1).overview;
      this.show(data);
    } catch (error) {
      if (!wanted()) return;
      this.live = false;
      byId("about").textContent += ` · no longer served (${error.message})`;
    }
    if (this.live) setTimeout(() => this.again(), AGAIN);
  }

  // Not while somebody looks into a span, nor where nobody looks.
  again() {
    if (document.hidden || this.state.span !== null) setTimeout(() => this.again(), AGAIN);
    else this.ask(null);
  }
}
