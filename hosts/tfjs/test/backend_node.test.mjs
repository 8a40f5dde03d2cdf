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
  assert.deepEqual(values(gray), [76, 149, 29, 10]); // libpng rounds down
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

// ---- libjpeg-turbo's settings

/** A photograph, in effect: smooth, with edges and colours. */
function picture(height, width) {
  return tf.tidy(() => {
    const values = Int32Array.from({ length: height * width * 3 }, (_, i) => {
      const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
      return Math.round(127 + 127 * Math.sin((x * (1 + (i % 3)) + y * 2) / 19));
    });
    return tf.tensor3d(values, [height, width, 3], 'int32');
  });
}

const far = (a, b) => tf.tidy(() => tf.max(tf.abs(tf.sub(a, b))).dataSync()[0]);

test('jpeg: every setting of tfjs-node', async () => {
  const image = picture(40, 56);
  const plain = await tf.node.encodeJpeg(image, '', 90);
  const decoded = tf.node.decodeJpeg(plain);
  assert.ok(far(image, decoded) < 60);
  const sizes = [2, 4, 8].map((ratio) => tf.node.decodeJpeg(plain, 3, ratio));
  assert.deepEqual(
    sizes.map((each) => each.shape),
    [
      [20, 28, 3],
      [10, 14, 3],
      [5, 7, 3],
    ],
  );
  const rough = tf.node.decodeJpeg(plain, 3, 1, false);
  assert.ok(far(rough, decoded) > 0, 'fancy upscaling makes a difference');
  const fast = tf.node.decodeJpeg(plain, 0, 1, true, false, 1, 'INTEGER_FAST');
  assert.equal(far(fast, decoded), 0); // TensorFlow's default
  const accurate = tf.node.decodeJpeg(plain, 0, 1, true, false, 1, 'INTEGER_ACCURATE');
  assert.ok(far(accurate, decoded) > 0 && far(accurate, decoded) < 20);
  for (const settings of [
    [90, true],
    [90, false, true],
    [90, false, false, false],
    [90, false, false, true, 'cm', 100, 120, '<x:xmpmeta/>'],
  ]) {
    const bytes = await tf.node.encodeJpeg(image, 'rgb', ...settings);
    assert.notEqual(bytes.length, plain.length);
    const again = tf.node.decodeImage(bytes);
    assert.deepEqual(again.shape, [40, 56, 3]);
    again.dispose();
  }
  tf.dispose([image, decoded, ...sizes, rough, fast, accurate]);
});

test('jpeg: grayscale stays of one channel', async () => {
  const gray = tf.fill([9, 7, 1], 100, 'int32');
  const bytes = await tf.node.encodeJpeg(gray, 'grayscale');
  const read = tf.node.decodeJpeg(bytes);
  assert.deepEqual(read.shape, [9, 7, 1]);
  assert.ok(far(gray, read) <= 2);
  tf.dispose([gray, read]);
});

test('jpeg: what is truncated is refused, or recovered as far as is acceptable', async () => {
  const image = picture(64, 64);
  const bytes = (await tf.node.encodeJpeg(image)).subarray(0, 1500);
  assert.throws(() => tf.node.decodeJpeg(bytes), /\[decodeJpeg\] .*truncated/);
  assert.throws(() => tf.node.decodeJpeg(bytes, 0, 1, true, true, 1), /truncated/);
  const part = tf.node.decodeJpeg(bytes, 0, 1, true, true, 0.1);
  assert.deepEqual(part.shape, [64, 64, 3]);
  tf.dispose([image, part]);
});

test('pictures while the program goes on', async () => {
  const image = picture(200, 300);
  const [jpeg, png] = [await tf.node.encodeJpeg(image), await tf.node.encodePng(image)];
  const later = await Promise.all([
    tf.node.decodeJpegAsync(jpeg),
    tf.node.decodePngAsync(png),
    tf.node.decodeImageAsync(jpeg, 1),
    tf.node.decodeImageAsync(BMP),
  ]);
  const now = [tf.node.decodeJpeg(jpeg), tf.node.decodePng(png)];
  assert.equal(far(later[0], now[0]), 0);
  assert.equal(far(later[1], image), 0);
  assert.deepEqual(later[2].shape, [200, 300, 1]);
  await assert.rejects(tf.node.decodeJpegAsync(jpeg.subarray(0, 900)), /\[decodeJpeg\] /);
  await assert.rejects(tf.node.decodePngAsync(png.subarray(0, 900)), /\[decodePng\] .*truncated/);
  tf.dispose([image, ...later, ...now]);
});

test('bmp of 8 bits: the colours of its palette; grays as one channel', () => {
  const header = (colors) => {
    const file = Buffer.alloc(54 + colors.length * 4 + 8);
    file.write('BM');
    file.writeUInt32LE(54 + colors.length * 4, 10);
    file.writeUInt32LE(40, 14);
    file.writeInt32LE(2, 18);
    file.writeInt32LE(-2, 22); // rows from the top
    file.writeUInt16LE(1, 26);
    file.writeUInt16LE(8, 28);
    file.writeUInt32LE(colors.length, 46);
    colors.forEach(([r, g, b], i) => file.set([b, g, r, 0], 54 + i * 4));
    file.set([0, 1, 0, 0, 1, 0, 0, 0], 54 + colors.length * 4);
    return file;
  };
  const colored = header([
    [10, 20, 30],
    [200, 100, 50],
  ]);
  const read = tf.node.decodeBmp(colored);
  assert.deepEqual(read.shape, [2, 2, 3]);
  assert.deepEqual(values(read), [10, 20, 30, 200, 100, 50, 200, 100, 50, 10, 20, 30]);
  const gray = header([
    [7, 7, 7],
    [9, 9, 9],
  ]);
  const one = tf.node.decodeBmp(gray);
  assert.deepEqual(
    [one.shape, values(one)],
    [
      [2, 2, 1],
      [7, 9, 9, 7],
    ],
  );
  const four = tf.node.decodeBmp(gray, 4);
  assert.deepEqual(values(four).slice(0, 8), [7, 7, 7, 255, 9, 9, 9, 255]);
  assert.throws(() => tf.node.decodeBmp(gray.subarray(0, 60)), /truncated/);
  tf.dispose([read, one, four]);
});

/** Behind the sizes of BMP, GIF and PNG: a byte there would make gigabytes of them. */
const FIRST = 26;

test('forged pictures: an error, and nothing else', async () => {
  const image = picture(24, 24);
  const originals = [await tf.node.encodeJpeg(image), await tf.node.encodePng(image), BMP, GIF];
  let seed = 1;
  const next = () => (seed = (seed * 48271) % 2147483647);
  for (const original of originals) {
    for (let i = 0; i < 300; i++) {
      const forged = Uint8Array.from(original);
      for (let j = 0; j <= i % 4; j++)
        forged[FIRST + (next() % (forged.length - FIRST))] = next() % 256;
      try {
        tf.node
          .decodeImage(forged.subarray(0, i % 5 ? undefined : next() % forged.length))
          .dispose();
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }
  }
  image.dispose();
});
