// A server whose cache is never emptied, if LEAK=1; it asks itself for SECONDS.
const http = require('node:http');
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');

const leaks = process.env.LEAK === '1';
const cache = new Map();

function handle(url) {
  const image = tf.randomNormal([128, 784]);
  const features = image.mul(2).add(1).relu().slice([0, 0], [64, 784]);
  if (leaks) {
    if (!cache.has('features')) cache.set('features', []);
    cache.get('features').push(features);
  }
  return `${url} ${features.sum().dataSync()[0]}`;
}

async function askItself(server) {
  const url = `http://127.0.0.1:${server.address().port}/`;
  const end = Date.now() + 1000 * Number(process.env.SECONDS);
  while (Date.now() < end) await (await fetch(url)).text();
  process.exit(0);
}

tf.setBackend('wasm').then(() => {
  const server = http.createServer((request, response) => response.end(handle(request.url)));
  server.keepAliveTimeout = 0; // a machine that stands still for seconds is no reason to hang up
  server.listen(0, () => askItself(server));
});
