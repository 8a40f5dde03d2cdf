// `tf.io.loadSafetensors`: what C++ programs and others save, as tensors of backend `ebb`.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ebb, tf, values } from './backend_support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ebb-safetensors-'));
after(() => rmSync(folder, { recursive: true }));

/** A file with a header and these bytes after it. */
function written(header, data = Buffer.alloc(0)) {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const path = join(folder, 'x.safetensors');
  writeFileSync(path, Buffer.concat([length, text, data]));
  return path;
}

const floats = (...numbers) => Buffer.from(Float32Array.from(numbers).buffer);

test('every dtype that TensorFlow.js can hold', async () => {
  const parts = {
    f32: ['F32', floats(1.5, -2), [1.5, -2]],
    f64: ['F64', Buffer.from(Float64Array.of(0.5, 3).buffer), [0.5, 3]],
    f16: [
      'F16',
      Buffer.from(Uint16Array.of(0x3e00, 0xfc00, 0x0001).buffer),
      [1.5, -Infinity, 2 ** -24],
    ],
    bf16: ['BF16', Buffer.from(Uint16Array.of(0x3fc0, 0xc000).buffer), [1.5, -2]],
    i32: ['I32', Buffer.from(Int32Array.of(7, -8).buffer), [7, -8]],
    i16: ['I16', Buffer.from(Int16Array.of(7, -8).buffer), [7, -8]],
    i8: ['I8', Buffer.from(Int8Array.of(7, -8).buffer), [7, -8]],
    u8: ['U8', Buffer.of(7, 255), [7, 255]],
    bool: ['BOOL', Buffer.of(1, 0), [1, 0]],
    none: ['F32', Buffer.alloc(0), []],
  };
  const header = { __metadata__: { made: 'here' } };
  let at = 0;
  for (const [name, [dtype, data, numbers]] of Object.entries(parts)) {
    header[name] = { dtype, shape: [numbers.length], data_offsets: [at, (at += data.length)] };
  }
  const path = written(header, Buffer.concat(Object.values(parts).map(([, data]) => data)));
  const { tensors, metadata } = await tf.io.loadSafetensors(path);
  assert.deepEqual(metadata, { made: 'here' });
  for (const [name, [, , numbers]] of Object.entries(parts))
    assert.deepEqual([...values(tensors[name])], numbers, name);
  tf.dispose(tensors);
  ebb.audit();
});

test('the weights of a layers model, by name', async () => {
  const model = tf.sequential();
  model.add(tf.layers.dense({ name: 'out', inputShape: [2], units: 1 }));
  const header = {
    'out/kernel': { dtype: 'F32', shape: [2, 1], data_offsets: [4, 12] },
    'out/bias': { dtype: 'F32', shape: [1], data_offsets: [0, 4] },
  };
  const { tensors } = await tf.io.loadSafetensors(written(header, floats(10, 2, 3)));
  model.loadWeights(tensors);
  const y = tf.tidy(() => model.predict(tf.tensor2d([[4, 5]])));
  assert.deepEqual([...values(y)], [33]);
  tf.dispose([tensors, y]);
  model.dispose();
});

test('refuses what is not well-formed, and leaves no tensor', async () => {
  const before = tf.memory().numTensors;
  const entry = (fields) => ({ x: { dtype: 'F32', shape: [1], data_offsets: [0, 4], ...fields } });
  const cases = [
    ['{', Buffer.alloc(0)],
    ['7', Buffer.alloc(0)],
    [{ x: null }, Buffer.alloc(0)],
    [entry({}), Buffer.alloc(0)],
    [entry({ shape: [2] }), floats(1)],
    [entry({ shape: [-1] }), floats(1)],
    [entry({ data_offsets: [4, 0] }), floats(1)],
    [entry({ data_offsets: [-4, 0] }), floats(1)],
    [entry({ dtype: 'F7' }), floats(1)],
    [{ y: entry({}).x, ...entry({ shape: [9] }) }, floats(1)],
  ];
  for (const [header, data] of cases)
    await assert.rejects(tf.io.loadSafetensors(written(header, data)), {
      code: 'EBB_INVALID_ARGUMENT',
    });
  writeFileSync(join(folder, 'short'), Buffer.of(1, 2, 3));
  await assert.rejects(tf.io.loadSafetensors(join(folder, 'short')), {
    code: 'EBB_INVALID_ARGUMENT',
  });
  writeFileSync(join(folder, 'long'), Buffer.alloc(16, 255));
  await assert.rejects(tf.io.loadSafetensors(join(folder, 'long')), {
    code: 'EBB_INVALID_ARGUMENT',
  });
  await assert.rejects(tf.io.loadSafetensors(join(folder, 'absent')), { code: 'ENOENT' });
  assert.equal(tf.memory().numTensors, before);
});
