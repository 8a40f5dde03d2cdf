// The JavaScript of the documents, run as it stands there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ebb, require, tf, use } from './support.mjs';

const AsyncFunction = (async () => {}).constructor;
/** What the readers have. */
const theirs = {
  require,
  tf,
  ebb,
  load: async () => new Float32Array(4),
  folder: new URL('saved_models/mlp', import.meta.url).pathname,
  x: tf.ones([2, 5]),
  model: { predict: (x) => tf.softmax(x), trainOnBatch: async () => 0.5 },
  batches: [{ xs: [[1]], labels: [[1]] }],
  handle: async () => tf.tidy(() => tf.ones([2]).sum().dataSync()[0]),
  request: {},
};

/** Imports become what they stand for: a function has none. */
function asFunction(code) {
  return code.replaceAll(/^import \* as (\w+) from ('[^']+');$/gm, 'const $1 = await import($2);');
}

for (const name of ['README.md', 'docs/node.md', 'docs/backend.md', 'hosts/tfjs/README.md']) {
  const text = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  for (const [i, code] of blocks.entries()) {
    test(`${name}, example ${i + 1}`, async () => {
      await use('cpu');
      const run = new AsyncFunction(...Object.keys(theirs), `{ ${asFunction(code)} }`);
      await run(...Object.values(theirs));
      ebb.budget('8GB');
      ebb.audit();
    });
  }
}

test('there are examples', () => {
  const text = readFileSync(new URL('../../../docs/node.md', import.meta.url), 'utf8');
  assert.ok(text.match(/^```js$/gm).length >= 3);
});
