// Rows: a place in one recording, or in two. Places are the same where their stacks are.

class Row {
  constructor(key, before, after) {
    Object.assign(this, {key, before, after});
    this.site = after ?? before;
    this.stack = this.site.stack;
  }
  worth(cut, span) { return this.after ? worth(this.after, cut, span) : 0; }
  worthBefore(cut, span) { return this.before ? worth(this.before, cut, span) : 0; }
}

function rowsOf(recordings) {
  const after = recordings.at(-1);
  if (recordings.length === 1) return after.sites.map((site) => new Row(site.key, null, site));
  const found = new Map(recordings[0].sites.map((site) => [site.key, [site, null]]));
  for (const site of after.sites) found.set(site.key, [found.get(site.key)?.[0] ?? null, site]);
  return [...found].map(([key, [before, now]]) => new Row(key, before, now));
}
