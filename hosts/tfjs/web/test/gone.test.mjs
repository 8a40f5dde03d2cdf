// A webgpu device that goes away in the middle of a job, where nothing can be waited for: an error, and never a value.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openForTests } from './session.mjs';

const { run } = openForTests();

test('a device that the program destroys gives no values from then on, nor do they move', async () => {
  const { errors, again } = await run('destroyed', { backend: 'webgpu' });
  for (const error of errors) assert.equal(error?.code, 'EBB_DEVICE_ERROR', error?.message);
  assert.equal(again, 7, 'tf.engine().reset() begins again');
});

// They end the process of Chromium's GPU made of software, with Ebb and without: zeros came of it.
test('synchronous reads give what was computed, or an error', async () => {
  const { reads, error } = await run('readInJob', { backend: 'webgpu' });
  for (const [i, ...values] of reads) assert.deepEqual(values, Array(10).fill(i + 1));
  if (error === undefined) assert.equal(reads.length, 3);
  else assert.equal(error.code, 'EBB_DEVICE_ERROR', error.message);
});
