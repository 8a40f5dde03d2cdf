// docs/record.md says of each reason that a report may give what to do about it. That reports give no others is the
// compiler's concern: src/backend/record/reasons.ts has them all.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { require } from './backend_support.mjs';

const { REASONS } = require('../dist/backend/record/reasons.js');
const page = readFileSync(new URL('../../../docs/record.md', import.meta.url), 'utf8');

/** The texts of the first column, by what its heading begins with. */
function tables() {
  const found = {};
  let heading;
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) heading = undefined;
    else if (heading === undefined) heading = /^\| (.*), because \|/.exec(line)?.[1] ?? '';
    else if (heading !== '' && !line.startsWith('|---')) {
      const [, first] = line.split('|');
      (found[heading] ??= []).push(...[...first.matchAll(/`([^`]+)`/g)].map(([, text]) => text));
    }
  }
  return found;
}

test('each reason is in a table of docs/record.md, and nothing else is', () => {
  const all = tables();
  assert.deepEqual(Object.keys(all), [
    'recorded again',
    'this call was run by TensorFlow.js',
    'all calls like this one are run by TensorFlow.js',
  ]);
  const others = ['learningRate of an optimizer changed', 'setWeights', 'guards'];
  const texts = Object.values(all).flat();
  assert.deepEqual([...texts].sort(), [...REASONS, ...others].sort());
});
