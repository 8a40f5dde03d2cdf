// What tfjs-node does around training: TensorBoard's summaries, the progress bar; and models over HTTP.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { leavesNothing, tf } from './backend_support.mjs';

leavesNothing();

/** Fields of a protocol buffer: by number, each with its values. */
function fields(bytes) {
  const found = {};
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const wire = tag & 7;
    let value;
    if (wire === 0) value = varint();
    else if (wire === 2) {
      const length = varint();
      value = bytes.subarray(at, (at += length));
    } else value = bytes.subarray(at, (at += wire === 1 ? 8 : 4));
    (found[tag >> 3] ??= []).push(value);
  }
  return found;
}

/** Each value of an event file: its step, tag, plug-in and tensor. */
function valuesIn(folder) {
  const file = readFileSync(join(folder, readdirSync(folder)[0]));
  const values = [];
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at));
    const event = fields(file.subarray(at + 12, at + 12 + length));
    at += length + 16;
    for (const summary of event[5] ?? []) {
      const value = fields(fields(summary)[1][0]);
      const metadata = value[9] && fields(value[9][0]);
      const plugin = metadata?.[1] && String(fields(metadata[1][0])[1][0]);
      const tensor = value[8] && fields(value[8][0]);
      values.push({ step: event[2]?.[0], tag: String(value[1][0]), plugin, tensor, value });
    }
  }
  return values;
}

const withFolder = async (run) => {
  const folder = mkdtempSync(join(tmpdir(), 'ebb-board-'));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

test('histograms, pictures and text', () =>
  withFolder(async (folder) => {
    const writer = tf.node.summaryFileWriter(folder);
    assert.equal(tf.node.summaryFileWriter(folder), writer);
    const data = tf.tensor1d([0, 0, 1, 2, 4]);
    const image = tf.fill([3, 2, 3], 200, 'int32');
    writer.histogram('weights', data, 7, 4, 'of one layer');
    await writer.image('picture', image, 8);
    writer.text('words', ['one', 'two'], 9);
    writer.scalar('loss', 0.5, 10);
    writer.flush();
    const [histogram, picture, words, loss] = valuesIn(folder);
    assert.deepEqual(
      [histogram.tag, histogram.plugin, histogram.step],
      ['weights', 'histograms', 7],
    );
    const content = histogram.tensor[4][0];
    const numbers = Array.from({ length: 12 }, (_, i) => content.readDoubleLE(i * 8));
    assert.deepEqual(numbers, [0, 1, 2, 1, 2, 1, 2, 3, 1, 3, 4, 1]);
    assert.equal(picture.plugin, 'images');
    assert.deepEqual(picture.tensor[8].slice(0, 2).map(String), ['2', '3']);
    const read = tf.node.decodePng(picture.tensor[8][2]);
    assert.deepEqual([...read.dataSync()], [...image.dataSync()]);
    assert.deepEqual([words.plugin, ...words.tensor[8].map(String)], ['text', 'one', 'two']);
    assert.equal(loss.value[2][0].readFloatLE(), 0.5);
    assert.throws(() => writer.histogram('x', data, -1), /\[histogram: step\]/);
    assert.throws(() => writer.histogram('x', data, 1, 0), /\[histogram: buckets\]/);
    tf.dispose([data, image, read]);
  }));

test('weights as histograms, every so many epochs', () =>
  withFolder(async (folder) => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [2] })] });
    model.compile({ optimizer: tf.train.sgd(0.1), loss: 'meanSquaredError' });
    const [x, y] = [tf.ones([8, 2]), tf.ones([8, 2])];
    const callbacks = tf.node.tensorBoard(folder, { histogramFreq: 2 });
    await model.fit(x, y, { epochs: 3, verbose: 0, callbacks });
    const found = valuesIn(join(folder, 'train')).filter(({ plugin }) => plugin === 'histograms');
    const names = model.weights.map(({ name }) => name);
    assert.deepEqual(
      found.map(({ tag, step = 0 }) => `${tag} ${step}`),
      [0, 2].flatMap((step) => names.map((name) => `${name} ${step}`)),
    );
    model.optimizer.dispose();
    model.dispose();
    tf.dispose([x, y]);
  }));

test('fit says how far it is, unless it is to be silent', async () => {
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
  model.compile({ optimizer: tf.train.sgd(0.1), loss: 'meanSquaredError' });
  const [x, y] = [tf.ones([8, 2]), tf.ones([8, 1])];
  const lines = [];
  const { log } = console;
  console.log = (line) => lines.push(line);
  try {
    await model.fit(x, y, { epochs: 2, verbose: 0 });
    assert.deepEqual(lines, []);
    await model.fit(x, y, { epochs: 2 });
  } finally {
    console.log = log;
  }
  assert.equal(lines.length, 4);
  assert.equal(lines[0], 'Epoch 1 / 2');
  assert.match(lines[3], /^\d+ms \d+us\/step - loss=[\d.e-]+$/);
  model.optimizer.dispose();
  model.dispose();
  tf.dispose([x, y]);
});

test('a model over HTTP, with what the request is to have', async () => {
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
  const folder = mkdtempSync(join(tmpdir(), 'ebb-http-'));
  await model.save(`file://${folder}`);
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['x-key']);
    response.end(readFileSync(join(folder, request.url)));
  }).listen(0);
  const url = `http://localhost:${server.address().port}/model.json`;
  const handler = tf.io.nodeHTTPRequest(url, { headers: { 'x-key': 'mine' } });
  const loaded = await tf.loadLayersModel(handler);
  const x = tf.ones([1, 2]);
  const [a, b] = [model.predict(x), loaded.predict(x)];
  assert.equal(a.dataSync()[0], b.dataSync()[0]);
  assert.deepEqual(asked, ['mine', 'mine']);
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
  tf.dispose([x, a, b]);
  model.dispose();
  loaded.dispose();
});
