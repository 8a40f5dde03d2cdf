// Sentinels and pressure by themselves, with Node's collector called by name.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';

const require = createRequire(import.meta.url);
const { Sentinels } = require('../../dist/web/sentinels.js');
const { Pressure } = require('../../dist/web/pressure.js');

v8.setFlagsFromString('--expose-gc');
const gc = vm.runInNewContext('gc');

const nextJob = () => new Promise((resolve) => setTimeout(resolve, 5));

async function stocked() {
  const died = [];
  const sentinels = new Sentinels((slot) => died.push(slot));
  while (!sentinels.full) await nextJob();
  return { sentinels, died };
}

/** Watches so many objects that nobody holds; in a function of its own, so that no frame does either. */
function watchDropped(sentinels, from, count) {
  for (let i = 0; i < count; i++) sentinels.watch(from + i, { id: from + i });
}

test('deaths are seen in the job of their births', async () => {
  const { sentinels, died } = await stocked();
  watchDropped(sentinels, 0, 100);
  const held = { id: 100 };
  sentinels.watch(100, held);
  gc();
  sentinels.ask(true);
  assert.ok(died.length >= 98, `${died.length} of 100 seen`); // a register may hold one
  assert.ok(!died.includes(100));
  assert.equal(sentinels.object(100), held);
});

test('the youngest are left out unless all are asked', async () => {
  const { sentinels, died } = await stocked();
  watchDropped(sentinels, 0, 20);
  gc();
  sentinels.ask(false);
  assert.ok(died.every((slot) => slot < 12));
  assert.ok(died.length >= 11);
});

test('one that was found alive is asked again in a later job', async () => {
  const { sentinels, died } = await stocked();
  const held = [{}, {}];
  held.forEach((object, slot) => sentinels.watch(slot, object));
  gc();
  sentinels.ask(true);
  assert.deepEqual(died, []);
  held.length = 0;
  await nextJob();
  gc();
  sentinels.ask(true);
  assert.deepEqual(died.sort(), [0, 1]);
});

test('who has ended is not told of, and its slot can be used again', async () => {
  const { sentinels, died } = await stocked();
  const first = { name: 'first' };
  sentinels.watch(7, first);
  sentinels.release(first);
  sentinels.release(first);
  assert.equal(sentinels.object(7), undefined);
  const second = { name: 'second' };
  sentinels.watch(7, second);
  assert.equal(sentinels.object(7), second);
  gc();
  sentinels.ask(true);
  await nextJob();
  assert.deepEqual(died, []);
  assert.equal(first.name + second.name, 'firstsecond');
});

test('a sentinel that is used again does not lead back to its former tensor', async () => {
  const { sentinels, died } = await stocked();
  const kept = { name: 'kept by the program' };
  sentinels.watch(1, kept);
  sentinels.release(kept);
  const { left } = sentinels;
  watchDropped(sentinels, 2, left); // every sentinel there is, the used one among them
  gc();
  sentinels.ask(true);
  assert.ok(died.length >= left - 2, `${died.length} of ${left}`);
  assert.equal(kept.name, 'kept by the program');
});

test('a sentinel that cannot be taken off serves no other', async () => {
  const { sentinels } = await stocked();
  const frozen = { name: 'frozen' };
  sentinels.watch(1, frozen);
  Object.freeze(frozen);
  const { left } = sentinels;
  sentinels.release(frozen);
  sentinels.release(frozen);
  assert.equal(sentinels.left, left);
  assert.equal(sentinels.object(1), undefined);
});

test('without a stock tensors are watched all the same, and seen in a later job', async () => {
  const { sentinels, died } = await stocked();
  const { left } = sentinels;
  watchDropped(sentinels, 0, left + 50);
  assert.equal(sentinels.left, 0);
  assert.notEqual(sentinels.object(left + 20), undefined);
  await nextJob();
  gc();
  sentinels.ask(true);
  assert.ok(died.filter((slot) => slot >= left).length >= 48);
  for (let i = 0; i < 40; i++) await nextJob();
  assert.ok(sentinels.left > left, 'the stock has grown');
});

test('finalizers tell of deaths that nobody asks about', async () => {
  const { sentinels, died } = await stocked();
  watchDropped(sentinels, 0, 10);
  for (let i = 0; i < 20 && died.length < 10; i++) {
    gc();
    await nextJob();
  }
  assert.deepEqual(
    died.sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
});

test('where pressing does not help nobody is asked, and it is said once', async () => {
  const asked = [];
  const alive = {};
  const sentinels = { canary: () => new WeakRef(alive), ask: () => asked.push(1) };
  const said = [];
  const pressure = new Pressure(sentinels, (message) => said.push(message));
  for (let i = 0; i < 20; i++) assert.equal(pressure.collect(true), false);
  assert.deepEqual(asked, []);
  assert.equal(said.length, 1);
  assert.match(said[0], /does not collect when it is pressed/);
  assert.equal(pressure.reading.asked, 3, 'given up after three');
});

test('the canary of a heavy push is let go before the light one, by which marking begins', () => {
  const taken = [];
  const alive = {};
  const canaries = [
    { deref: () => (taken.push('looked at'), alive) },
    { deref: () => undefined },
    { deref: assert.fail },
  ];
  const canary = () => (taken.push('let go'), canaries.shift());
  const pressure = new Pressure({ canary, ask: () => taken.push('asked') }, assert.fail);
  assert.equal(pressure.collect(true), true);
  assert.deepEqual(taken, ['let go', 'let go', 'looked at', 'asked']);
  assert.equal(pressure.reading.pushes, 2);
});

test('a job with no canary left collects nothing', () => {
  const pressure = new Pressure({ canary: () => undefined, ask: assert.fail }, assert.fail);
  assert.equal(pressure.collect(true), false);
});

test('what is disposed of serves again, and nothing is made for it', async () => {
  const { sentinels } = await stocked();
  const { left } = sentinels;
  for (let turn = 0; turn < 5; turn++) {
    const made = Array.from({ length: 100 }, (_, id) => ({ id }));
    made.forEach((object, slot) => sentinels.watch(slot, object));
    made.forEach((object) => sentinels.release(object));
    await nextJob();
  }
  assert.ok(sentinels.left >= left);
  assert.ok(sentinels.left <= left + 2048, `${sentinels.left - left} more`);
});
