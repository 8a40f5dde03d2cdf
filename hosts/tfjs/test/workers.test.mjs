// Item 8: each worker its own engine and books; one budget for all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { assertBooks, ebb, tf, use } from './support.mjs';

const file = new URL('worker.mjs', import.meta.url);

await use('cpu');
ebb.reclaim.on();

async function run(task) {
  const worker = new Worker(file, { workerData: task });
  const exited = once(worker, 'exit');
  const [message] = await once(worker, 'message');
  return { worker, message, exited };
}

test('a worker reclaims by itself, and its books are apart', async () => {
  const here = ebb.memory();
  const { message, exited } = await run({ backend: 'wasm', rounds: 5000 });
  await exited;
  assert.equal(message.isOn, true, 'the switch is the process');
  assert.equal(message.left, message.start);
  assert.ok(message.reclaimed >= 5000);
  assert.equal(ebb.memory().created, here.created);
  assert.ok(ebb.memory({ everywhere: true }).created >= here.created + 5000);
  assertBooks();
});

test('several at once, on both backends', async () => {
  const tasks = ['cpu', 'wasm', 'cpu', 'wasm'].map((backend) => run({ backend, rounds: 2000 }));
  for (const { worker, message } of await Promise.all(tasks)) {
    assert.equal(message.left, message.start);
    await worker.terminate();
  }
  assertBooks();
});

test('terminated in the middle of its work: its tensors are booked as ended with it', async () => {
  const { worker } = await run({ backend: 'cpu', forever: true });
  await worker.terminate();
  const everywhere = ebb.memory({ everywhere: true });
  assert.ok(everywhere.shutdown > 0);
  assert.equal(everywhere.live, ebb.memory().live);
  assertBooks();
});

test('one budget: what a worker holds counts here', async () => {
  ebb.budget('1GB');
  const { worker, message } = await run({ backend: 'cpu', rounds: 1 });
  assert.equal(message.budget, 2 ** 30);
  await worker.terminate();
  tf.tensor1d([1]).dispose();
});
