// `tf.node`: pictures and TensorBoard, as tfjs-node has them.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { leavesNothing, tf, values } from './backend_support.mjs';

leavesNothing();

const gradient = (channels) =>
  tf.tensor3d(
    Array.from({ length: 8 * 6 * channels }, (_, i) => (i * 7) % 256),
    [8, 6, channels],
    'int32',
  );

for (const channels of [1, 2, 3, 4]) {
  test(`png of ${channels} channels: written and read without loss`, async () => {
    const image = gradient(channels);
    const bytes = await tf.node.encodePng(image);
    const read = tf.node.decodePng(bytes);
    assert.deepEqual(read.shape, [8, 6, channels]);
    assert.equal(read.dtype, 'int32');
    assert.deepEqual(values(read), values(image));
    tf.dispose([image, read]);
  });
}

test('channels are converted on demand', async () => {
  const image = tf.tensor3d([255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 10, 10], [2, 2, 3], 'int32');
  const bytes = await tf.node.encodePng(image);
  const gray = tf.node.decodePng(bytes, 1);
  const four = tf.node.decodeImage(bytes, 4);
  assert.deepEqual(values(gray), [76, 150, 29, 10]);
  assert.deepEqual(values(four).slice(0, 4), [255, 0, 0, 255]);
  tf.dispose([image, gray, four]);
});

test('jpeg: close to what was written', async () => {
  const image = tf.fill([16, 16, 3], 120, 'int32');
  const bytes = await tf.node.encodeJpeg(image, 'rgb', 95);
  const read = tf.node.decodeJpeg(bytes);
  assert.deepEqual(read.shape, [16, 16, 3]);
  assert.ok(values(read).every((value) => Math.abs(value - 120) <= 3));
  const gray = tf.node.decodeImage(bytes, 1);
  assert.deepEqual(gray.shape, [16, 16, 1]);
  tf.dispose([image, read, gray]);
});

/** Two by two, 24 bits, rows from the bottom, each filled up to four bytes. */
const BMP = Buffer.from(
  '424d460000000000000036000000280000000200000002000000010018000000000010000000130b0000130b00000000000000000000' +
    'ff0000ffffff0000' +
    '0000ff00ff000000',
  'hex',
);

test('bmp', () => {
  const read = tf.node.decodeImage(BMP);
  assert.deepEqual(read.shape, [2, 2, 3]);
  assert.deepEqual(values(read), [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]);
  read.dispose();
});

/** One pixel, two frames: black, then white. */
const GIF = Buffer.from(
  '47494638396101000100800000000000ffffff21f90400000000002c00000000010001000002024401003b'.replace(
    '3b',
    '21f90400000000002c000000000100010000020' + '24c01003b',
  ),
  'hex',
);

test('gif: every frame, or the first', () => {
  const frames = tf.node.decodeGif(GIF);
  assert.deepEqual(frames.shape, [2, 1, 1, 3]);
  assert.deepEqual(values(frames), [0, 0, 0, 255, 255, 255]);
  const first = tf.node.decodeImage(GIF, 3, 'int32', false);
  assert.deepEqual(first.shape, [1, 1, 3]);
  tf.dispose([frames, first]);
});

test('what is not a picture, and what cannot be done, is said', () => {
  assert.throws(() => tf.node.decodeImage(Uint8Array.of(1, 2, 3)), /^EbbError: \[decodeImage\] /);
  assert.throws(() => tf.node.decodeJpeg(new Uint8Array(4), 2), /\[decodeJpeg: channels\]/);
  assert.throws(() => tf.node.loadSavedModel('x'), /tensorflowjs_converter/);
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  for (const kind of ['Jpeg', 'Png', 'Bmp', 'Gif']) {
    const name = `decode${kind}`;
    assert.throws(
      () => tf.node[name](bytes),
      (error) =>
        error.code === 'EBB_INVALID_ARGUMENT' &&
        error.message.startsWith(`[${name}] `) &&
        error.message.endsWith(`allowed: a ${kind.toUpperCase()}.`),
    );
  }
});

test('scalars for TensorBoard, one record each', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ebb-board-'));
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
  model.compile({ optimizer: tf.train.sgd(0.1), loss: 'meanSquaredError' });
  const [x, y] = [tf.ones([8, 2]), tf.ones([8, 1])];
  const callbacks = tf.node.tensorBoard(folder);
  const { history } = await model.fit(x, y, { epochs: 3, verbose: 0, callbacks });
  const [file] = readdirSync(join(folder, 'train'));
  const records = recordsOf(readFileSync(join(folder, 'train', file)));
  assert.equal(records.length, 4, 'the version, and one for each epoch');
  records.slice(1).forEach((record, i) => {
    assert.ok(record.includes('epoch_loss'));
    assert.equal(record.readFloatLE(record.length - 4), Math.fround(history.loss[i]));
  });
  rmSync(folder, { recursive: true });
  model.optimizer.dispose();
  model.dispose();
  tf.dispose([x, y]);
});

function recordsOf(file) {
  const records = [];
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at));
    records.push(file.subarray(at + 12, at + 12 + length));
    at += length + 16;
  }
  return records;
}
