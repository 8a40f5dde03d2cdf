// Item 5: tidy across await.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { collected, ebb, onEachBackend, sleep, tf, use } from './support.mjs';

const pause = () => sleep(Math.random() * 5);

onEachBackend('async tidy', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });

  test('frees what was made before and after an await, returns the result', async () => {
    const start = await collected();
    const result = await ebb.tidy(async () => {
      const a = tf.tensor1d([1, 2]);
      await pause();
      const b = a.add(1);
      await pause();
      return b.mul(2);
    });
    assert.deepEqual([...result.dataSync()], [4, 6]);
    assert.equal(tf.memory().numTensors, start + 1);
    result.dispose();
  });

  test('a thousand at once with random awaits: each frees its own, no more', async () => {
    const start = await collected();
    const one = (i) =>
      ebb.tidy(async () => {
        const a = tf.fill([4], i);
        await pause();
        const b = a.add(1);
        if (i % 3 === 0) await pause();
        const c = b.mul(a);
        await pause();
        assert.equal(a.isDisposed || b.isDisposed || c.isDisposed, false);
        return c.add(b);
      });
    const results = await Promise.all(Array.from({ length: 1000 }, (_, i) => one(i)));
    assert.equal(tf.memory().numTensors, start + 1000);
    results.forEach((result, i) => assert.equal(result.dataSync()[0], (i + 1) * i + i + 1));
    tf.dispose(results);
    assert.equal(tf.memory().numTensors, start);
  });

  test('nested: results move to the surrounding region', async () => {
    const start = await collected();
    let middle;
    await ebb.tidy(async () => {
      middle = await ebb.tidy(async () => {
        await pause();
        return tf.tensor1d([1]).add(1);
      });
      assert.equal(tf.memory().numTensors, start + 1);
      await pause();
      assert.equal(middle.isDisposed, false);
    });
    assert.equal(middle.isDisposed, true);
    assert.equal(tf.memory().numTensors, start);
  });

  test('finds what is returned in objects, arrays, Maps, Sets and class instances', async () => {
    const start = await collected();
    class Box {
      content = tf.tensor1d([4]);
    }
    const result = await ebb.tidy(async () => {
      await pause();
      return {
        list: [tf.tensor1d([1])],
        map: new Map([['a', tf.tensor1d([2])]]),
        set: new Set([tf.tensor1d([3])]),
        box: new Box(),
      };
    });
    assert.equal(tf.memory().numTensors, start + 4);
    tf.dispose([result.list, result.map.get('a'), [...result.set], result.box.content]);
    assert.equal(tf.memory().numTensors, start);
  });

  test('keep is honoured; variables never end with a region', async () => {
    const start = await collected();
    let kept;
    let variable;
    await ebb.tidy(async () => {
      await pause();
      kept = tf.keep(tf.tensor1d([1]));
      variable = tf.tidy(() => tf.variable(tf.tensor1d([2])));
      await pause();
    });
    assert.equal(tf.memory().numTensors, start + 2);
    assert.equal(variable.dataSync()[0], 2);
    tf.dispose([kept, variable]);
  });

  test('a rejection, and a throw before the first await, end the region', async () => {
    const start = await collected();
    const boom = ebb.tidy(async () => {
      tf.tensor1d([1]);
      await pause();
      tf.tensor1d([2]);
      throw new Error('boom');
    });
    await assert.rejects(boom, /boom/);
    assert.throws(
      () =>
        ebb.tidy(() => {
          tf.tensor1d([1]);
          throw new Error('at once');
        }),
      /at once/,
    );
    assert.equal(tf.memory().numTensors, start);
    assert.equal(tf.engine().state.scopeStack.length, 0);
  });

  test('sync functions work as with tf.tidy', async () => {
    const start = await collected();
    const result = ebb.tidy('named', () => tf.tensor1d([1]).add(1).add(1));
    assert.deepEqual([...result.dataSync()], [3]);
    assert.equal(tf.memory().numTensors, start + 1);
    result.dispose();
  });

  test("TensorFlow.js's tidy inside and around: the innermost scope wins", async () => {
    const start = await collected();
    let inside;
    let promise;
    tf.tidy(() => {
      tf.tensor1d([0]);
      promise = ebb.tidy(async () => {
        inside = tf.tensor1d([1]);
        await pause();
        const out = tf.tidy(() => {
          const scratch = inside.add(1);
          return scratch.mul(10);
        });
        assert.equal(tf.memory().numTensors, start + 2);
        return out;
      });
    });
    assert.equal(inside.isDisposed, false, 'the outer tf.tidy must not end what the region owns');
    const out = await promise;
    assert.deepEqual([...out.dataSync()], [20]);
    assert.equal(inside.isDisposed, true);
    out.dispose();
    assert.equal(tf.memory().numTensors, start);
  });

  test('startScope ... endScope across an await around it', async () => {
    const start = await collected();
    tf.engine().startScope();
    tf.tensor1d([1]);
    const out = await ebb.tidy(async () => {
      await pause();
      return tf.tensor1d([2]).add(1);
    });
    assert.equal(out.isDisposed, false);
    tf.engine().endScope();
    assert.equal(out.isDisposed, true);
    assert.equal(tf.memory().numTensors, start);
  });

  test('what is born after its region ended goes to the nearest open one', async () => {
    const start = await collected();
    let late;
    let finished;
    await ebb.tidy(async () => {
      await ebb.tidy(async () => {
        finished = (async () => {
          await sleep(20);
          late = tf.tensor1d([9]);
        })();
      });
      await finished;
      assert.equal(late.isDisposed, false);
    });
    assert.equal(late.isDisposed, true);
    assert.equal(tf.memory().numTensors, start);
  });

  test('an event emitter with callbacks made inside keeps to its region', async () => {
    const start = await collected();
    let ticks = 0;
    await ebb.tidy(
      () =>
        new Promise((resolve) => {
          const timer = setInterval(() => {
            tf.tensor1d([ticks]).add(1);
            if (++ticks === 5) {
              clearInterval(timer);
              resolve();
            }
          }, 1);
        }),
    );
    assert.equal(tf.memory().numTensors, start);
  });
});
