// Reports of users, as tests; the full lengths run in the soak (EBB_SOAK=1).
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { collected, ebb, onEachBackend, sleep, tf, use } from './support.mjs';

const FULL = process.env.EBB_SOAK === '1';

onEachBackend('user reports', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });

  test('tidy { tensor1d(1,500 values).reshape } disposed by hand: resident memory is flat', async () => {
    const values = Float32Array.from({ length: 1500 }, (_, i) => i);
    const round = () => tf.tidy(() => tf.tensor1d(values).reshape([30, 50])).dispose();
    const rounds = FULL ? 5_000_000 : 300_000;
    const warm = FULL ? 500_000 : 100_000;
    for (let i = 0; i < warm; i++) round();
    const start = await collected();
    const before = process.memoryUsage.rss();
    for (let i = 0; i < rounds; i++) round();
    assert.equal(await collected(), start);
    const growth = (process.memoryUsage.rss() - before) / rounds;
    // A short run cannot tell one byte from the pages that V8 takes and gives at will.
    assert.ok(growth < (FULL ? 1 : 60), `${growth} bytes a round`);
  });

  test('tensors made and dropped, then idle: counts back to the start', async () => {
    const start = await collected();
    await (async () => {
      for (let i = 0; i < 100; i++) {
        tf.add(tf.ones([100]), i);
        if (i % 10 === 0) await sleep(1);
      }
    })();
    await sleep(2000);
    assert.equal(tf.engine().state.numTensors, start);
  });
});
