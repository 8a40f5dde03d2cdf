// docs/record.md says of each reason that a report may give what to do about it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const folder = '../src/backend/record/';
const sources = readdirSync(new URL(folder, import.meta.url)).map((name) => read(folder + name));

test('each reason is in the tables of docs/record.md', () => {
  const page = read('../../../docs/record.md');
  const reason =
    /'((?:it|a result|a gradient|another backend|shapes|trainable|values|variables|other shapes),? [a-z][^'`$]*)'/g;
  const found = new Set(
    sources.flatMap((source) =>
      [...source.matchAll(reason)].map(([, text]) => text).filter((text) => !text.endsWith(' ')),
    ),
  );
  assert.ok(found.size >= 18, `${[...found].join('\n')}`);
  const missing = [...found].filter((each) => !page.includes(`\`${each}\``));
  assert.deepEqual(missing, []);
  assert.match(page, /`learningRate of an optimizer changed`/);
});
