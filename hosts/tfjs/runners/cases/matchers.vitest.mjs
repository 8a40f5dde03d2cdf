import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import 'ebb-tfjs/vitest';
import { expect, test } from 'vitest';

test('matchers', async () => {
  await tf.setBackend('cpu');
  const held = [];
  await expect(() => tf.tidy(() => tf.add(tf.zeros([8]), 1).dataSync())).toLeaveNoTensors();
  await expect(() => held.push(tf.zeros([8]))).not.toLeaveNoTensors();
  await expect(() =>
    expect(() => held.push(tf.zeros([8]))).toLeaveNoTensors({ warmups: 1 }),
  ).rejects.toThrow(/1 tensor left behind:\n.*matchers\.vitest\.mjs:\d+/);
  await expect(() => tf.zeros([1024, 1024])).toStayWithin('8MB', { warmups: 1 });
  await expect(() =>
    expect(() => held.push(tf.zeros([2048, 1024]))).toStayWithin('4MB'),
  ).rejects.toThrow(/Tensors took 8\.00 MB more than before; allowed: 4\.00 MB/);
  tf.dispose(held);
});
