// A prediction server on loopback whose handlers dispose nothing and tidy nothing. It knows nothing of Ebb.
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');
const http = require('node:http');
const { setImmediate: turn } = require('node:timers/promises');
const { layers, INPUTS, TABLE, entry } = require('./network.cjs');

const backend = process.argv[2] ?? 'wasm';
const CACHED = 20;

function makeModel() {
  const model = tf.sequential();
  for (const { inputs, outputs, last } of layers) {
    model.add(
      tf.layers.dense({
        inputShape: [inputs],
        units: outputs,
        activation: last ? 'softmax' : 'relu',
      }),
    );
  }
  model.setWeights(
    layers.flatMap(({ inputs, outputs, weights, bias }) => [
      tf.tensor2d(weights, [inputs, outputs]),
      tf.tensor1d(bias),
    ]),
  );
  return model;
}

function makeTable() {
  const { parts, rows, columns } = TABLE;
  return Array.from({ length: parts }, (_, part) => {
    const values = new Float32Array(rows * columns);
    for (let i = 0; i < values.length; i++)
      values[i] = entry(part, Math.floor(i / columns), i % columns);
    return tf.tensor2d(values, [rows, columns]);
  });
}

async function body(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

/** The awaits let handlers interleave; some results wait in a cache for a while, then are dropped as well. */
const cache = [];
async function predictByHand(weights, rows) {
  let x = tf.tensor2d(rows, [rows.length, INPUTS]);
  for (const [i, { kernel, bias }] of weights.entries()) {
    await turn();
    const sum = tf.add(tf.matMul(x, kernel), bias);
    x = i < weights.length - 1 ? sum.relu() : tf.softmax(sum);
  }
  cache.push(x);
  if (cache.length > CACHED) cache.shift();
  return x.array();
}

async function main() {
  await tf.setBackend(backend);
  const model = makeModel();
  const weights = layers.map(({ inputs, outputs, weights: values, bias }) => ({
    kernel: tf.tensor2d(values, [inputs, outputs]),
    bias: tf.tensor1d(bias),
  }));
  const table = makeTable();
  const handlers = {
    '/table': async ([part, ...rows]) =>
      await table[part].gather(tf.tensor1d(rows, 'int32')).array(),
    '/model': async (rows) => await model.predict(tf.tensor2d(rows)).array(),
    '/hand': (rows) => predictByHand(weights, rows),
    '/fails': async (rows) => {
      const tensor = tf.tensor2d(rows).add(1);
      await tensor.data();
      throw new Error('as it always does');
    },
    '/memory': () => {
      const { numTensors: tensors, numBytes: bytes } = tf.memory();
      return { tensors, bytes, backend: tf.backend().constructor.name };
    },
  };
  const server = http.createServer(async (request, response) => {
    try {
      const result = await handlers[request.url](
        request.method === 'POST' ? await body(request) : undefined,
      );
      response.end(JSON.stringify(result));
    } catch (error) {
      response.writeHead(500).end(JSON.stringify({ error: error.message }));
    }
  });
  // A machine that stands still for some seconds must not look like a server that hangs up.
  server.keepAliveTimeout = server.headersTimeout = server.requestTimeout = 0;
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

main();
