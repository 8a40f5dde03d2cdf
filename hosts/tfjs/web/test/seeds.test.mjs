// The examples of the documents that started this, in a page and in a worker; models over HTTP; a page left alone.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { openForTests, programsAnd } from './session.mjs';

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

const { run } = openForTests({
  extra: async () => ({ ...(await modelFiles()), ...programsAnd('seeds.js') }),
});

const CELLS = [
  ['webgl', 'page'],
  ['webgpu', 'worker'],
];
for (const [backend, where] of CELLS) {
  describe(`the seeds on ${backend} in a ${where}`, () => {
    const seed = async (name) => {
      const seen = await run(name, { backend }, where);
      assert.equal(seen.end, seen.start, `${seen.end} tensors left, ${seen.start} before`);
      return seen;
    };
    test('dropped after an await', () => seed('droppedAfterAwait'));
    test('disposed of after an await', async () => {
      assert.equal((await seed('disposedAfterAwait')).left, 0);
    });
    test('tidy inside a promise', async () => {
      const { during, values, left } = await seed('tidyInPromise');
      assert.deepEqual({ during, values, left }, { during: 1, values: [5, 7, 9], left: 0 });
    });
    test('held by an array until it dies', async () => {
      const { held, wrong } = await seed('heldByArray');
      assert.deepEqual({ held, wrong }, { held: 300, wrong: 0 });
    });
    test('nextFrame and dispose', async () => {
      assert.equal((await seed('nextFrameAndDispose')).left, 0);
    });
    test('models over HTTP, disposed of and dropped', async () => {
      assert.deepEqual((await seed('modelsOverHttp')).sums, [2, 2, 2, 2]);
    });
    test('event listeners, until they are removed', async () => {
      const { held, start } = await seed('listeners');
      assert.equal(held, start + 1);
    });
  });
}

test('a page left alone for a minute goes back to its start', async () => {
  const seen = await run('leftAlone', { backend: 'webgpu' });
  const { start, most, end } = seen;
  assert.ok(most.tensors > start.tensors + 10 || most.bytes > start.bytes + 4 * MB);
  assert.equal(end.tensors, start.tensors);
  assert.ok(end.bytes <= start.bytes + MB, `${end.bytes / MB} MB, ${start.bytes / MB} at first`);
});
