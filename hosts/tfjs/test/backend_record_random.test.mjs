// The random functions of soak/recorded.mjs, some of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedFunctions } from '../soak/recorded.mjs';
import './backend_support.mjs';

test('random functions do the same recorded and not, to the bit', () => {
  const { calls, replayed } = recordedFunctions(4221, { functions: 1500 });
  assert.ok(replayed > calls / 2, `${replayed} of ${calls} calls were replayed`);
});
