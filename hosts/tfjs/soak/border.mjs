// A random program at the border of backend `ebb`: any call of TensorFlow.js, of its backend and of Ebb, in any order,
// with typed arrays of every kind, detached and shared ones, disposed and forged tensors, wrong objects and absurd
// sizes. Whatever it does: a value or an Error, books that balance, and right results afterwards.
//
//   node soak/border.mjs [seed]       EBB_SOAK_SECONDS says for how long (60); workers do the same at once
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { isMainThread, MessageChannel, Worker, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');

/** A call that takes longer has lost itself, however busy the machine is. */
const LONGEST_MS = 20_000;
const KEPT = 40;

const EDGES = [31, 32, 52, 53, 63].flatMap((power) => [2 ** power - 1, 2 ** power, 2 ** power + 1]);
const NUMBERS = [0, -0, 1, 2, 3, -1, 0.5, NaN, Infinity, -Infinity, 2 ** 24, ...EDGES];
const DTYPES = ['float32', 'int32', 'bool', 'complex64', 'string', 'float16', '', undefined];
const ARRAYS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];

/** mulberry32 */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Program {
  calls = 0;
  refused = 0;
  tensors = [];
  /** `alone`: no other thread is inside Ebb, so that the books can be looked at. */
  constructor(seed, alone) {
    this.alone = alone;
    this.random = randomOf(seed);
    this.kernels = tf.getKernelsForBackend('ebb').map((kernel) => kernel.kernelName);
  }

  below(count) {
    return Math.floor(this.random() * count);
  }
  pick(list) {
    return list[this.below(list.length)];
  }

  // ---- arguments

  typedArray() {
    const kind = this.pick(ARRAYS);
    const length = this.below(20);
    if (this.below(4) > 0) return new kind(length);
    if (this.below(2) === 0)
      return new kind(new SharedArrayBuffer(length * kind.BYTES_PER_ELEMENT));
    const array = new kind(length);
    new MessageChannel().port1.postMessage(null, [array.buffer]);
    return array; // detached
  }
  shape() {
    const rank = this.below(8);
    return Array.from({ length: rank }, () =>
      this.below(12) === 0 ? this.pick(NUMBERS) : this.below(4),
    );
  }
  junk() {
    const kind = this.below(16);
    if (kind < 4) return this.pick(NUMBERS);
    if (kind < 6) return this.typedArray();
    if (kind < 8) return this.shape();
    if (kind < 10) return this.operand();
    return this.pick([
      null,
      undefined,
      '',
      'float32',
      'same',
      'valid',
      true,
      {},
      [],
      () => 1,
      10n,
      Symbol('x'),
      { dataId: {}, shape: [2], dtype: 'float32' },
      new Proxy({}, {}),
      new DataView(new ArrayBuffer(8)),
      [[1, 2], [3]],
    ]);
  }
  tensor() {
    const shape = Array.from({ length: this.below(4) }, () => this.below(4));
    const size = shape.reduce((a, b) => a * b, 1);
    const values = Array.from({ length: size }, () => this.below(7) - 2);
    return this.keep(tf.tensor(values, shape, this.pick(['float32', 'int32', 'bool'])));
  }
  operand() {
    const kind = this.below(10);
    if (kind < 4 || this.tensors.length === 0) return this.tensor();
    const tensor = this.pick(this.tensors);
    if (kind === 9) tensor.dispose();
    if (kind === 8) return { ...tensor, shape: this.shape(), dtype: this.pick(DTYPES) };
    return tensor;
  }
  dataId() {
    const kind = this.below(6);
    return kind < 4 ? this.operand()?.dataId : kind === 4 ? {} : this.junk();
  }
  keep(made) {
    for (const tensor of [made].flat()) {
      if (!(tensor instanceof tf.Tensor)) continue;
      this.tensors.push(tensor);
      if (this.tensors.length > KEPT) this.tensors.shift().dispose();
    }
    return made;
  }

  // ---- calls

  kernel() {
    const inputs = {};
    for (const name of ['x', 'a', 'b', 'input', 'logits', 'indices', 'filter', 'dy', 'values']) {
      if (this.below(2) === 0) inputs[name] = this.below(8) === 0 ? this.junk() : this.operand();
    }
    if (this.below(4) === 0) {
      for (let i = 0; i < 3; i++) inputs[i] = this.operand();
    }
    const attrs = {};
    const NAMES = ['axis', 'shape', 'reps', 'perm', 'dim', 'k', 'strides', 'pad', 'dtype', 'value'];
    for (const name of [...NAMES, 'begin', 'size', 'paddings', 'filterSize', 'depth', 'num']) {
      if (this.below(2) === 0) attrs[name] = this.junk();
    }
    return tf.engine().runKernel(this.pick(this.kernels), inputs, attrs);
  }
  backend() {
    const backend = tf.backend();
    switch (this.below(8)) {
      case 0:
        return backend.write(this.junk(), this.shape(), this.pick(DTYPES));
      case 1:
        return backend.write(this.typedArray(), [this.below(20)], this.pick(DTYPES));
      case 2:
        return backend.move({}, this.typedArray(), [this.below(20)], this.pick(DTYPES), 1);
      case 3:
        return backend.readSync(this.dataId());
      case 4:
        return backend.read(this.dataId());
      case 5:
        return backend.refCount(this.dataId());
      case 6:
        return backend.time(this.below(2) === 0 ? this.junk() : () => this.operand());
      default:
        return backend.numDataIds();
    }
  }
  engine() {
    switch (this.below(6)) {
      case 0:
        return this.keep(tf.tensor(this.junk(), this.shape(), this.pick(DTYPES)));
      case 1:
        return this.keep(tf.tensor(this.typedArray(), [this.below(20)], this.pick(DTYPES)));
      case 2:
        return this.operand().dataSync?.();
      case 3:
        return this.operand().data?.();
      case 4:
        return tf.tidy(() => this.kernel());
      default:
        return tf.dispose(this.junk());
    }
  }
  own() {
    switch (this.below(7)) {
      case 0:
        return this.below(2) === 0 ? ebb.reclaim.on() : ebb.reclaim.off();
      case 1:
        return ebb.memory(this.below(2) === 0 ? undefined : this.junk());
      case 2:
        return ebb.report?.(this.below(2) === 0 ? undefined : this.junk());
      case 3:
        return ebb.budget(this.below(3) === 0 ? this.junk() : '64MB', { strict: true });
      case 4:
        return ebb.collect?.();
      case 5:
        return ebb.trim?.(this.junk());
      default:
        return this.alone ? ebb.audit() : undefined;
    }
  }

  async step() {
    const what = this.pick(['kernel', 'kernel', 'kernel', 'backend', 'backend', 'engine', 'own']);
    const start = performance.now();
    this.calls++;
    try {
      const result = this[what]();
      this.keep(result);
      if (result instanceof Promise) await result.then((value) => this.keep(value));
    } catch (error) {
      this.refused++;
      assert.ok(error instanceof Error, `${what} threw ${String(error)}`);
      assert.ok(error.message.length > 0, `${what} threw an Error that says nothing`);
      assert.notEqual(error.code, 'EBB_INTERNAL', error.message);
    }
    const ms = performance.now() - start;
    assert.ok(ms < LONGEST_MS, `${what} took ${ms} ms`);
  }

  async finish() {
    ebb.reclaim.off();
    ebb.budget('64MB', { strict: true });
    for (const tensor of this.tensors) tensor.dispose();
    if (this.alone) ebb.audit();
    const sum = tf.tidy(() => tf.add(tf.tensor1d([1, 2, 3]), 1).dataSync());
    assert.deepEqual(Array.from(sum), [2, 3, 4], 'what comes after is right');
  }
}

/** So many calls, or for so many seconds. */
export async function border(seed, { calls = Infinity, seconds = Infinity, alone = true }) {
  const program = new Program(seed, alone);
  const until = performance.now() + seconds * 1000;
  ebb.budget('64MB', { strict: true });
  while (program.calls < calls && performance.now() < until) await program.step();
  await program.finish();
  return { calls: program.calls, refused: program.refused };
}

const file = fileURLToPath(import.meta.url);
if (!isMainThread && workerData?.border) {
  const { seed, seconds } = workerData.border;
  const done = await border(seed, { seconds, alone: false });
  console.log(`note: a worker: ${done.calls} calls, ${done.refused} refused`);
} else if (process.argv[1] === file) {
  const seed = Number(process.argv[2] ?? Date.now() % 2 ** 31);
  const seconds = Number(process.env.EBB_SOAK_SECONDS ?? 60);
  console.log(`note: border: seed ${seed}`);
  const worker = new Worker(file, { workerData: { border: { seed: seed + 1, seconds } } });
  const over = once(worker, 'exit');
  const done = await border(seed, { seconds, alone: false });
  const [code] = await over;
  assert.equal(code, 0, 'the worker failed');
  ebb.audit();
  console.log(`note: border: ${done.calls} calls, ${done.refused} refused`);
}
