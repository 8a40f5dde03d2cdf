// Item 4: scopes mean what they meant, and do not pin the dead.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { collected, ebb, onEachBackend, tf, use } from './support.mjs';

onEachBackend('scopes', (backend) => {
  before(async () => {
    await use(backend);
    ebb.reclaim.on();
  });

  test('inside one long tidy the unreachable is given back', async () => {
    const start = await collected();
    const x = tf.ones([16]);
    tf.tidy(() => {
      let most = 0;
      for (let i = 0; i < 30000; i++) {
        tf.add(x, i);
        if (i % 100 === 0) most = Math.max(most, tf.memory().numTensors);
      }
      assert.ok(most - start < 15000, `${most - start} alive`);
      ebb.collect();
      assert.ok(tf.memory().numTensors - start < 10);
      assert.ok(tf.engine().state.activeScope.track.length < 16000, 'the scope gathers ids');
    });
    x.dispose();
    assert.equal(tf.memory().numTensors, start);
  });

  test('what is returned survives, what is kept survives, the rest ends at once', async () => {
    const start = await collected();
    let kept;
    let inner;
    const result = tf.tidy(() => {
      inner = tf.tensor1d([1]);
      kept = tf.keep(tf.tensor1d([2]));
      return { deep: [{ x: tf.tensor1d([3]) }], y: tf.tensor1d([4]) };
    });
    assert.equal(tf.memory().numTensors, start + 3);
    assert.equal(inner.isDisposed, true);
    assert.throws(() => inner.dataSync(), /disposed/);
    assert.deepEqual([...result.deep[0].x.dataSync()], [3]);
    tf.dispose([kept, result]);
    assert.equal(tf.memory().numTensors, start);
  });

  test('nested: results belong to the outer scope', async () => {
    const start = await collected();
    const out = tf.tidy(() => {
      const a = tf.tidy(() => {
        const b = tf.tidy('inner', () => tf.tensor1d([1]).add(1));
        return b.add(1);
      });
      return a.add(1);
    });
    assert.deepEqual([...out.dataSync()], [4]);
    assert.equal(tf.memory().numTensors, start + 1);
    out.dispose();
  });

  test('an error ends the scope like a return', async () => {
    const start = await collected();
    assert.throws(
      () =>
        tf.tidy(() => {
          tf.tensor1d([1]);
          throw new Error('thrown inside');
        }),
      /thrown inside/,
    );
    assert.equal(tf.memory().numTensors, start);
    assert.equal(tf.engine().state.scopeStack.length, 0);
  });

  test('the tape holds what a gradient needs, though collections run', async () => {
    const start = await collected();
    const f = (x) => {
      let y = x;
      for (let i = 0; i < 20; i++) {
        y = y.mul(x).add(1);
        ebb.collect(i % 5 === 0 ? 'major' : 'minor');
      }
      return y.sum();
    };
    (() => {
      const { grad } = tf.valueAndGrad(f)(tf.tensor1d([0.5, 1, 1.1]));
      const h = 1e-2;
      const numeric = f(tf.scalar(1 + h))
        .sub(f(tf.scalar(1 - h)))
        .div(2 * h);
      assert.ok(
        Math.abs(grad.dataSync()[1] - numeric.dataSync()[0]) / numeric.dataSync()[0] < 0.05,
      );
    })();
    assert.equal(await collected(), start);
  });

  test('ended with a scope is booked apart from disposed', async () => {
    await collected();
    const before = ebb.memory();
    tf.tidy(() => {
      for (let i = 0; i < 10; i++) tf.tensor1d([i]);
    });
    tf.tensor1d([1]).dispose();
    const after = ebb.memory();
    assert.equal(after.regionEnded - before.regionEnded, 10);
    assert.equal(after.disposed - before.disposed, 1);
  });
});
