// A server that answers predictions on loopback with careless handlers, for EBB_SOAK_MINUTES (10): resident
// memory must reach a plateau, and no answer may be wrong.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');
const ebb = require('ebb-tfjs');
tf.enableProdMode();
await tf.setBackend('wasm');
assert.equal(tf.backend().constructor.name, 'BackendWasm');
ebb.reclaim.on();
ebb.budget('256MB');

const MINUTES = Number(process.env.EBB_SOAK_MINUTES ?? 10);
const weights = tf.keep(tf.ones([256, 256]));

/** Nothing is disposed, nothing is tidied; some results wait in a cache for a while. */
const cache = [];
async function predict(value) {
  const x = tf.fill([64, 256], value);
  const hidden = tf.relu(tf.matMul(x, weights));
  const y = tf.add(hidden.reshape([256, 64]), 1);
  cache.push(y);
  if (cache.length > 20) cache.shift();
  const [most, least] = await Promise.all([tf.max(y).data(), tf.min(y).data()]);
  return most[0] === least[0] ? most[0] : NaN;
}

const server = http.createServer(async (request, response) => {
  response.end(String(await predict(Number(request.url.slice(1)))));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();

const megabytes = () => process.memoryUsage.rss() / 2 ** 20;
const started = Date.now();
const readings = [];
let answers = 0;
while (Date.now() - started < MINUTES * 60_000) {
  const asked = Array.from({ length: 8 }, () => Math.floor(Math.random() * 100));
  const replies = await Promise.all(
    asked.map(async (n) => (await fetch(`http://127.0.0.1:${port}/${n}`)).text()),
  );
  replies.forEach((text, i) => assert.equal(Number(text), asked[i] * 256 + 1));
  answers += replies.length;
  const second = Math.floor((Date.now() - started) / 1000);
  if (readings.length <= second) readings.push(megabytes());
}
server.close();
server.closeAllConnections();
ebb.audit();
const half = readings.slice(Math.floor(readings.length / 2));
const growth = Math.max(...half.slice(-10)) - Math.max(...half.slice(0, 10));
console.log(
  `${answers} answers, all right; resident ${readings[0].toFixed(0)} MB at first, ` +
    `${half[0].toFixed(0)} at half time, ${readings.at(-1).toFixed(0)} at the end; ` +
    `${ebb.memory().reclaimed} tensors reclaimed, ${tf.memory().numTensors} left`,
);
assert.ok(growth < 32, `resident memory still grows: ${growth.toFixed(0)} MB in the second half`);
