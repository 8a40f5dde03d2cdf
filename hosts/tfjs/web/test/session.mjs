// A browser and a server for the tests of a file, or of a `describe`.
import { readFileSync } from 'node:fs';
import { after, before } from 'node:test';
import { launchChromium, runIn, serve } from './browsers.mjs';

/** programs.js, and more of them after it. */
export function programsAnd(name) {
  const read = (file) => readFileSync(new URL(file, import.meta.url), 'utf8');
  return { '/programs.js': `${read('programs.js')}\n${read(name)}` };
}

/** Opened before the tests, closed after them. `extra` gives files that the server has besides its own. */
export function openForTests({ launch = launchChromium, extra = () => ({}) } = {}) {
  const opened = {
    /** What a program gives, in a new page or in a worker of one; on the CPU unless `options` say otherwise. */
    run: (name, options = {}, where = 'page') =>
      runIn(opened.browser, opened.origin, where, name, { backend: 'cpu', ...options }),
  };
  before(async () => {
    Object.assign(opened, await serve(await extra()));
    opened.browser = await launch();
  });
  after(async () => {
    await opened.browser?.close();
    opened.server?.close();
  });
  return opened;
}
