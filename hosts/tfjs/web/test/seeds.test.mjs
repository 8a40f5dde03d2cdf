// The examples of the documents that started this, in a page and in a worker; models over HTTP; a page left alone.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { launchChromium, runIn, serve } from './browsers.mjs';

const MB = 2 ** 20;

/** A small model as a server has it: model.json and the weights beside it. */
async function modelFiles() {
  const tf = createRequire(import.meta.url)('@tensorflow/tfjs');
  const layers = [tf.layers.dense({ units: 3, inputShape: [2], kernelInitializer: 'ones' })];
  let files;
  await tf.sequential({ layers }).save(
    tf.io.withSaveHandler(async ({ modelTopology, weightSpecs, weightData }) => {
      const weightsManifest = [{ paths: ['weights.bin'], weights: weightSpecs }];
      files = {
        '/model/model.json': JSON.stringify({ modelTopology, weightsManifest }),
        '/model/weights.bin': Buffer.from(weightData),
      };
      return {};
    }),
  );
  return files;
}

let browser, server, origin;
before(async () => {
  const seeds = readFileSync(new URL('seeds.js', import.meta.url));
  const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
  ({ server, origin } = await serve({
    ...(await modelFiles()),
    '/programs.js': `${read('programs.js')}\n${seeds}`,
  }));
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  server?.close();
});

const CELLS = [
  ['webgl', 'page'],
  ['webgpu', 'worker'],
];
for (const [backend, where] of CELLS) {
  describe(`the seeds on ${backend} in a ${where}`, () => {
    const run = async (name) => {
      const seen = await runIn(browser, origin, where, name, { backend });
      assert.equal(seen.end, seen.start, `${seen.end} tensors left, ${seen.start} before`);
      return seen;
    };
    test('dropped after an await', () => run('droppedAfterAwait'));
    test('disposed of after an await', async () => {
      assert.equal((await run('disposedAfterAwait')).left, 0);
    });
    test('tidy inside a promise', async () => {
      const { during, values, left } = await run('tidyInPromise');
      assert.deepEqual({ during, values, left }, { during: 1, values: [5, 7, 9], left: 0 });
    });
    test('held by an array until it dies', async () => {
      const { held, wrong } = await run('heldByArray');
      assert.deepEqual({ held, wrong }, { held: 300, wrong: 0 });
    });
    test('nextFrame and dispose', async () => {
      assert.equal((await run('nextFrameAndDispose')).left, 0);
    });
    test('models over HTTP, disposed of and dropped', async () => {
      assert.deepEqual((await run('modelsOverHttp')).sums, [2, 2, 2, 2]);
    });
    test('event listeners, until they are removed', async () => {
      const { held, start } = await run('listeners');
      assert.equal(held, start + 1);
    });
  });
}

test('a page left alone for a minute goes back to its start', async () => {
  const seen = await runIn(browser, origin, 'page', 'leftAlone', { backend: 'webgpu' });
  const { start, most, end } = seen;
  assert.ok(most.tensors > start.tensors + 10 || most.bytes > start.bytes + 4 * MB);
  assert.equal(end.tensors, start.tensors);
  assert.ok(end.bytes <= start.bytes + MB, `${end.bytes / MB} MB, ${start.bytes / MB} at first`);
});
