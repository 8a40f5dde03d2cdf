// What recorded functions make of plain arguments that look alike.
/* eslint-disable no-sparse-arrays -- they are what some of it is about */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

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
});
