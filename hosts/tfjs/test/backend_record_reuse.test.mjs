// Results that a recorded function fills again (`reuse`), where other recorded functions use them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collected, ebb, leavesNothing, tf, values } from './backend_support.mjs';

const full = (value) => tf.fill([64, 64], value);
const doubled = (more) => ebb.record((x) => x.mul(2), { reuse: true, ...more });
/** Every element is this, in each of some calls. */
const expectAll = (run, number) => {
  for (let i = 0; i < 3; i++) {
    const y = run();
    assert.ok(
      values(y).every((each) => each === number),
      `${values(y)[0]}, not ${number}`,
    );
    y.dispose();
  }
};
const fillWith = (fill, value) => {
  const x = full(value);
  fill(x);
  x.dispose();
};

for (const reclaims of [false, true]) {
  describe(`a result that is filled again, reclaim ${reclaims ? 'on' : 'off'}`, () => {
    leavesNothing();
    const check = (name, run) =>
      test(name, async () => {
        if (reclaims) ebb.reclaim.on();
        try {
          await run();
        } finally {
          ebb.reclaim.off();
        }
        await collected();
      });

    check('is what another recording uses as weights, and not copies of it', () => {
      const [fill, one, x] = [doubled(), full(1), tf.ones([8, 64])];
      for (const copied of [false, true]) {
        const made = fill(one);
        const weights = copied ? made.clone() : made;
        const times = ebb.record((each) => each.matMul(weights));
        expectAll(() => times(x), 128);
        for (const value of [5, 3, 4]) {
          fillWith(fill, value);
          expectAll(() => times(x), copied ? 128 : 128 * value);
        }
        assert.equal(times.info().recorded, 1);
        times.dispose();
        if (copied) weights.dispose();
      }
      fill.dispose();
      tf.dispose([one, x]);
    });

    check('is followed while clones and views of it live', () => {
      const [fill, one, x] = [doubled(), full(1), tf.ones([64, 64])];
      const made = fill(one);
      const add = ebb.record((each) => each.add(made));
      expectAll(() => add(x), 3);
      const others = [];
      for (const value of [5, 3, 4, 7]) {
        others.push(value === 3 ? made.reshape([4096]) : made.clone());
        fillWith(fill, value);
        expectAll(() => add(x), 1 + 2 * value);
      }
      [1, 5, 3, 4].forEach((value, i) => expectAll(() => others[i].clone(), 2 * value));
      tf.dispose(others);
      fillWith(fill, 9);
      expectAll(() => add(x), 19);
      assert.deepEqual([add.info().recorded, add.info().replayed], [1, 17]);
      add.dispose();
      fill.dispose();
      tf.dispose([one, x]);
    });

    check('is told apart from clones that were there before', () => {
      const [fill, one, x] = [doubled(), full(1), full(100)];
      const made = fill(one);
      const clone = made.clone();
      const looked = [];
      const add = ebb.record((each) => {
        looked.push(clone.dataSync()[0]); // nobody fills that
        return each.add(clone).add(made.mul(10).reshape([64, 64]));
      });
      expectAll(() => add(x), 122);
      for (const value of [5, 3, 4]) {
        fillWith(fill, value);
        expectAll(() => add(x), 102 + 20 * value);
      }
      assert.deepEqual([looked, add.info().replayed], [[2], 11]);
      assert.throws(() => ebb.record(() => one.add(made.dataSync()[0]))(), /reads the values/);
      add.dispose();
      fill.dispose();
      tf.dispose([one, x, clone]);
    });

    check('is followed where several results have the same data, and variables have it', () => {
      const fill = ebb.record(
        (x) => {
          const y = x.mul(2);
          return [y, y.clone(), y.add(1)];
        },
        { reuse: true },
      );
      const [one, x] = [full(1), full(100)];
      const [a, b, c] = fill(one);
      const v = tf.variable(a);
      const sum = ebb.record((each) => tf.addN([each, a, b, c, v]));
      expectAll(() => sum(x), 109);
      for (const value of [5, 3, 4]) {
        fillWith(fill, value);
        expectAll(() => sum(x), 103 + 6 * value);
      }
      tf.tidy(() => v.assign(a));
      fillWith(fill, 7);
      expectAll(() => sum(x), 109 + 42);
      sum.dispose();
      fill.dispose();
      tf.dispose([one, x, v]);
    });

    check('is followed from backend to backend', async () => {
      const [fill, one, x] = [doubled(), full(1), full(100)];
      const made = fill(one);
      const away = async (more) => {
        await tf.setBackend('cpu');
        made.add(1).dispose();
        more?.();
        await tf.setBackend('ebb');
      };
      let clone;
      await away(() => (clone = made.clone()));
      const add = ebb.record((each) => each.add(made));
      expectAll(() => add(x), 102);
      for (const value of [5, 3, 4]) {
        fillWith(fill, value);
        if (value === 3) await away();
        expectAll(() => add(x), 100 + 2 * value);
      }
      const { reasons, replayed } = add.info();
      assert.deepEqual(
        [reasons, replayed],
        [
          { 'variables or reused results came from another backend, with data that they share': 1 },
          10,
        ],
      );
      await away();
      assert.throws(() => ebb.record(() => one.add(made.dataSync()[0]))(), /reads the values/);
      add.dispose();
      fill.dispose();
      tf.dispose([one, x, clone]);
    });

    check('is named where it is disposed of', () => {
      const [fill, one, x] = [doubled(), full(1), full(100)];
      const made = fill(one);
      const add = ebb.record((each) => each.add(made), { name: 'adds' });
      expectAll(() => add(x), 102);
      const clone = made.clone();
      fillWith(fill, 2);
      fill.dispose();
      assert.throws(
        () => add(x),
        /"adds" uses a reused result, float32 \[64,64\] at .*reuse.test.mjs:\d+, that is disposed/,
      );
      add.dispose();
      tf.dispose([one, x, clone]);
    });

    check('belongs to the caller while an optimizer makes its variables', () => {
      const w = tf.tidy(() => tf.variable(tf.ones([4])));
      const optimizer = tf.train.adam(0.1);
      const step = () => optimizer.minimize(() => w.square().sum(), true, [w]);
      const fast = ebb.record(step, { reuse: true });
      const first = fast();
      const second = fast();
      assert.equal(fast(), second);
      assert.notEqual(first, second);
      fast.dispose();
      assert.deepEqual([first.isDisposed, second.isDisposed, values(first)[0]], [false, true, 4]);
      tf.dispose([first, w]);
      optimizer.dispose();
    });

    if (reclaims) {
      check('lets go of copies of what it was', async () => {
        const [fill, one, x] = [doubled(), full(1), full(100)];
        const made = fill(one);
        const add = ebb.record((each) => each.add(made));
        expectAll(() => add(x), 102);
        const before = await collected();
        (() => made.clone())();
        fillWith(fill, 2);
        expectAll(() => add(x), 104);
        assert.equal(await collected(), before);
        add.dispose();
        fill.dispose();
        tf.dispose([one, x]);
      });
    }
  });
}

test('a recording asks those functions for their results that fill them again, and no others', () => {
  const x = full(1);
  const fns = Array.from({ length: 50 }, () => ebb.record((y) => y.add(1)));
  const fill = doubled();
  fill(x);
  const { deref } = WeakRef.prototype;
  let asked = 0;
  WeakRef.prototype.deref = function () {
    asked++;
    return deref.call(this);
  };
  const add = ebb.record((y) => y.add(2));
  try {
    add(x).dispose();
  } finally {
    WeakRef.prototype.deref = deref;
  }
  assert.ok(asked < 10, `${asked}`);
  assert.ok(ebb.report({ json: true }).recorded.length > 50);
  for (const each of [...fns, add, fill, x]) each.dispose();
});
