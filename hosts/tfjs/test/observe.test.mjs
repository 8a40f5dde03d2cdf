// Creation sites, reports, expectNoLeaks.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { collected, ebb, onEachBackend, sleep, tf, use } from './support.mjs';

function line() {
  return Number(new Error().stack.split('\n')[2].match(/:(\d+):\d+/)[1]);
}

onEachBackend('observing', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });

  test('a report names file and line of the user, for ops, chained ops and layers', async () => {
    await collected();
    ebb.trace.on();
    const held = [];
    const made = line() + 1;
    for (let i = 0; i < 7; i++) held.push(tf.tensor1d([i]));
    const added = line() + 1;
    for (let i = 0; i < 6; i++) held.push(held[i].add(1));
    const built = line() + 1;
    const layer = (() => tf.layers.dense({ units: 3, inputShape: [2] }).apply(tf.ones([1, 2])))();
    held.push(layer);
    ebb.trace.off();
    const text = ebb.report({ top: 20 });
    for (const at of [made, added, built])
      assert.match(text, new RegExp(`observe\\.test\\.mjs:${at}\\b`), text);
    assert.doesNotMatch(text, /node_modules/);
    assert.equal(typeof ebb.report({ top: 3, json: true }), 'object');
    tf.dispose(held);
    await collected();
  });

  test('a tensor that is used after its end says which it was', () => {
    const disposed = () => {
      const x = tf.tensor2d([1, 2], [1, 2]);
      x.dispose();
      return x;
    };
    const x = disposed();
    assert.throws(() => x.add(1), {
      code: 'EBB_STALE_HANDLE',
      message: `Tensor is disposed. It was tensor ${x.id}, float32 [1,2].`,
    });
    ebb.trace.on();
    const traced = disposed();
    ebb.trace.off();
    assert.throws(
      () => traced.dataSync(),
      /\[1,2\], made at disposed \(.*observe\.test\.mjs:\d+\)\.$/,
    );
    let escaped;
    tf.tidy(() => {
      escaped = tf.scalar(1);
    });
    assert.throws(() => escaped.print(), /Tensor is disposed\. It was tensor \d+, float32 \[\]\.$/);
  });

  test('a snapshot has each tensor, its place and its bytes', () => {
    ebb.trace.on();
    const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]);
    ebb.trace.off();
    const path = join(mkdtempSync(join(tmpdir(), 'ebb-snapshot-')), 'books.json');
    ebb.snapshot(path);
    const { format, books, contexts, sites } = JSON.parse(readFileSync(path, 'utf8'));
    assert.equal(format, 'ebb-snapshot');
    assert.equal(books.tensors.live, ebb.memory({ everywhere: true }).live);
    const mine = contexts.flatMap(({ tensors }) => tensors).filter(({ site }) => site !== 0);
    const found = mine.find(({ shape }) => shape.join() === '2,3');
    assert.equal(found.bytes, backend === 'ebb' ? 64 : 24); // of the block, where it is Ebb's own
    assert.match(sites.find(({ site }) => site === found.site).text, /observe\.test\.mjs:\d+/);
    rmSync(dirname(path), { recursive: true });
    x.dispose();
  });

  test('a site has as many frames as wanted', async () => {
    await collected();
    const held = [];
    const make = () => held.push(tf.tensor1d([held.length]));
    const inside = line() - 1;
    ebb.trace.on({ frames: 2 });
    const outside = line() + 1;
    for (let i = 0; i < 3; i++) make();
    ebb.trace.on();
    for (let i = 0; i < 3; i++) make();
    ebb.trace.off();
    const ofMake = ebb
      .report({ top: 100, json: true })
      .sites.map(({ text }) => text)
      .filter((site) => site.includes(`observe.test.mjs:${inside})`));
    assert.equal(ofMake.filter((site) => site.includes(`:${outside}`)).length, 1, ofMake.join());
    assert.equal(ofMake.filter((site) => !site.includes('\n')).length, 1, ofMake.join());
    tf.dispose(held);
  });

  test('expectNoLeaks passes what ends or is returned', async () => {
    const result = await ebb.expectNoLeaks(async () => {
      const a = tf.tensor1d([1]);
      await sleep(1);
      const b = a.add(1);
      a.dispose();
      return [b];
    });
    assert.equal(result[0].dataSync()[0], 2);
    tf.dispose(result);
    assert.equal(await ebb.expectNoLeaks(() => tf.tidy(() => tf.ones([3]).sum().dataSync()[0])), 3);
    assert.equal(ebb.trace.isOn, false);
  });

  test('expectNoLeaks names the sites that leaked, orphans included', async () => {
    let at;
    await assert.rejects(
      ebb.expectNoLeaks(async () => {
        await sleep(1);
        at = line() + 1;
        for (let i = 0; i < 3; i++) tf.tensor1d([i]);
        ebb.collect();
      }),
      (error) =>
        error.code === 'EBB_LEAK' &&
        /3 tensors/.test(error.message) &&
        error.message.includes(`:${at}`),
    );
  });

  test('expectNoLeaks: a variable that is assigned to is as old as it was', async () => {
    const v = tf.variable(tf.tensor1d([1, 2]));
    await ebb.expectNoLeaks(() => tf.tidy(() => v.assign(tf.add(v, 1))));
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [2] })] });
    model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
    const [x, y] = [tf.ones([4, 2]), tf.ones([4, 2])];
    await model.fit(x, y, { epochs: 1, verbose: 0 }); // what it makes once
    await ebb.expectNoLeaks(async () => {
      await model.fit(x, y, { epochs: 1, verbose: 0 });
    });
    assert.deepEqual([...v.dataSync()], [2, 3]);
    model.dispose();
    tf.dispose([v, x, y]);
  });

  test('expectNoLeaks reachableOnly: a chain of dropped tensors is no leak', async () => {
    await ebb.expectNoLeaks(
      () => {
        tf.ones([2]).add(1);
      },
      { reachableOnly: true },
    );
  });

  test('expectNoLeaks reachableOnly: what can be collected is no leak', async () => {
    let held;
    await ebb.expectNoLeaks(() => void (() => tf.tensor1d([1]))(), { reachableOnly: true });
    await assert.rejects(
      ebb.expectNoLeaks(
        () => {
          held = tf.tensor1d([1]);
        },
        { reachableOnly: true },
      ),
      { code: 'EBB_LEAK' },
    );
    held.dispose();
  });

  test('expectNoLeaks does not count what others make meanwhile, nor swallow an error', async () => {
    const other = (async () => {
      await sleep(2);
      return tf.tensor1d([1]);
    })();
    await ebb.expectNoLeaks(() => sleep(10));
    (await other).dispose();
    await assert.rejects(
      ebb.expectNoLeaks(async () => {
        throw new Error('its own');
      }),
      /its own/,
    );
  });

  test('expectNoLeaks inside a tidy: what is returned belongs to the tidy', async () => {
    const start = await collected();
    await ebb.tidy(async () => {
      const x = await ebb.expectNoLeaks(async () => {
        await sleep(1);
        return tf.tensor1d([1]);
      });
      assert.equal(x.isDisposed, false);
    });
    assert.equal(tf.memory().numTensors, start);
  });
});
