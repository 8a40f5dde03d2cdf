// What recorded functions make of plain arguments that look alike.
/* eslint-disable no-sparse-arrays -- they are what some of it is about */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';
import { sleep } from './collecting.mjs';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

describe('a recorded function', () => {
  leavesNothing();

  test('tells a hole in an array from undefined', () => {
    const fast = ebb.record((x, list) => x.mul(list.length).add(0 in list ? 1 : 2));
    const x = tf.scalar(10);
    const [hole, nothing, holeAtEnd] = [
      [, 1],
      [undefined, 1],
      [1, ,],
    ];
    const all = [nothing, hole, hole, nothing, nothing, holeAtEnd, holeAtEnd].map((list) => {
      const y = fast(x, list);
      const [value] = values(y);
      y.dispose();
      return value;
    });
    assert.deepEqual(all, [21, 22, 22, 21, 21, 21, 21]);
    assert.deepEqual([fast.info().recorded, fast.info().replayed], [3, 4]);
    x.dispose();
    fast.dispose();
  });

  test('gives arrays with their holes', () => {
    const fast = ebb.record((x) => [, x.add(1), undefined]);
    const x = tf.scalar(1);
    for (let i = 0; i < 3; i++) {
      const list = fast(x);
      assert.deepEqual([0 in list, 2 in list, list.length], [false, true, 3]);
      assert.deepEqual(values(list[1]), [2]);
      list[1].dispose();
    }
    x.dispose();
    fast.dispose();
  });

  test('refuses arrays and objects that are within themselves', () => {
    const fast = ebb.record((x) => x.add(1));
    const x = tf.scalar(1);
    const object = { n: 1 };
    object.deep = { list: [object] };
    const list = [1];
    list.push(list);
    const refused = { code: 'EBB_INVALID_ARGUMENT', message: /within itself; allowed: arrays and/ };
    for (const cyclic of [object, list]) {
      assert.throws(() => fast(x, cyclic), refused);
      const gives = ebb.record(() => cyclic);
      assert.throws(() => gives(), refused);
    }
    const twice = { n: 1 };
    const y = fast(x, [twice, twice, { twice }]);
    assert.deepEqual(values(y), [2]);
    tf.dispose([x, y]);
    fast.dispose();
  });

  const x = tf.keep(tf.tensor1d([1, 2]));
  /** What calls give, with the function and with it recorded, each with arguments of its own. */
  const compares = (fn, calls, expected) => {
    const fast = ebb.record(fn);
    const all = [fn, fast].map((run) =>
      calls().map((given) => {
        const y = run(x, ...given);
        const found = values(y);
        y.dispose();
        return found;
      }),
    );
    assert.deepEqual(all[1], all[0]);
    assert.deepEqual([fast.info().recorded, fast.info().replayed], expected);
    fast.dispose();
  };

  test('asks a getter once', () => {
    const asked = [];
    const counting = (...list) => ({
      deep: {
        get v() {
          const value = list[asked.length % list.length];
          asked.push(value);
          return value;
        },
      },
    });
    const fast = ebb.record((y, { deep }) => y.add(deep.v));
    const given = [
      counting(1, 2, 3), // recorded as 1
      { deep: { v: 1 } },
      counting(8, 9, 8, 8, 8), // like none
      counting(4, 4, 0, 4, 4),
      counting(7, 7, 7, 1, 7), // as the first
    ];
    const all = given.map((each) => {
      const y = fast(x, each);
      const [value] = values(y);
      y.dispose();
      return value;
    });
    assert.deepEqual(all, [2, 2, 10, 1, 2]);
    assert.deepEqual(asked, [1, 9, 0, 1]);
    fast.dispose();
  });

  test('gets arrays and objects without tensors as they are', () => {
    const seen = [];
    const fast = ebb.record((y, list, { deep, tensor }) => {
      seen.push(list, deep);
      list.push(7);
      return y.mul(tensor);
    });
    const [list, deep] = [[], { frozen: Object.freeze([1]) }];
    fast(x, list, { deep, tensor: x }).dispose();
    assert.deepEqual([seen[0] === list, seen[1] === deep, list], [true, true, [7]]);
    fast.dispose();
    const draws = ebb.record((y, out) => {
      out.push(1);
      return y.add(tf.randomUniform([2]));
    });
    const out = [];
    for (let i = 0; i < 3; i++) draws(x, out).dispose();
    assert.equal(out.length, 3);
    draws.dispose();
  });

  test('sees what such have beside their elements, and tells them apart by it', () => {
    const symbol = Symbol('more');
    class List extends Array {
      total() {
        return this.reduce((sum, each) => sum + each, 0);
      }
    }
    const hidden = (value) => Object.defineProperty({ a: 1 }, 'k', { value });
    const twice = (make) => () => {
      const [one, five] = [make(1), make(5)];
      return [one, one, five, five, one, make(1)].map((each) => [each]);
    };
    compares(
      (y, o) => y.add(o[symbol]),
      twice((value) => ({ [symbol]: value })),
      [3, 3],
    );
    compares((y, o) => y.add(o.k), twice(hidden), [3, 3]);
    compares(
      (y, o) => y.add(o.k),
      twice((k) => Object.assign([1, 2], { k })),
      [3, 3],
    );
    compares(
      (y, { o }) => y.add(o.total()),
      twice((k) => ({ o: List.of(k, 2) })),
      [3, 3],
    );
    const mixed = () => [[1, 2], List.of(1, 2), [1, 2], List.of(1, 2)].map((each) => [each]);
    compares((y, o) => y.add(o.total?.() ?? 100), mixed, [3, 1]);
  });

  test('tells what has more than its elements from what was alike before', () => {
    const symbol = Symbol('factor');
    const hidden = Object.defineProperty({ a: 1 }, 'factor', { value: 3 });
    const cases = [
      [[1, 2], Object.assign([1, 2], { factor: 3 }), (list) => list.factor ?? 1],
      [['b'], 'aaaab'.match(/b/), (found) => found.index ?? 1],
      [{ a: 1 }, { a: 1, [symbol]: 3 }, (options) => options[symbol] ?? 1],
      [{ a: 1 }, hidden, (options) => options.factor ?? 1],
    ];
    for (const [plain, more, factor] of cases) {
      const fast = ebb.record((y, given) => y.mul(factor(given)));
      for (const given of [plain, plain, more, plain, more]) {
        const y = fast(x, given);
        assert.deepEqual(
          values(y),
          values(x).map((each) => each * factor(given)),
        );
        y.dispose();
      }
      fast.dispose();
    }
  });

  test('compares plain objects of other realms by content', () => {
    const fast = ebb.record((given) => given.x.mul(given.by));
    const given = runInNewContext('({ by: 2 })');
    for (const number of [1, 2, 3]) {
      given.x = tf.scalar(number);
      const y = fast(given);
      assert.deepEqual(values(y), [2 * number]);
      y.dispose();
      given.x.dispose();
    }
    given.x = tf.scalar(1);
    given.by = 5;
    const y = fast(given);
    assert.deepEqual(values(y), [5]);
    for (const each of [y, given.x, fast]) each.dispose();
  });

  test('lets getters call the function that reads them', () => {
    let fast = (y, given) => y.mul(given.a + given.b);
    const plain = (n) => ({ a: n, b: n });
    const calls = (f) => {
      const outer = {
        get a() {
          const y = f(x, plain(2));
          const [first] = values(y);
          y.dispose();
          return first;
        },
        b: 1,
      };
      return [plain(1), outer, plain(1), outer].map((given) => {
        const y = f(x, given);
        const found = values(y);
        y.dispose();
        return found;
      });
    };
    const wanted = calls(fast);
    fast = ebb.record(fast);
    assert.deepEqual(calls(fast), wanted);
    fast.dispose();
  });

  test('lets go of symbols', async () => {
    const fast = ebb.record((y) => y.add(1));
    let gone = 0;
    const registry = new FinalizationRegistry(() => gone++);
    (() => {
      for (let i = 0; i < 200; i++) {
        const symbol = Symbol('given');
        registry.register(symbol, i);
        fast(x, symbol).dispose();
      }
    })();
    for (let i = 0; i < 20 && gone < 150; i++) {
      gc();
      await sleep(5);
    }
    registry.unregister({}); // it is not to end before
    assert.ok(gone >= 150, `${gone}`);
    fast.dispose();
  });
});
