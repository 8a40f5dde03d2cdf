// A server whose /metrics Prometheus reads: node metrics.cjs, then curl localhost:9464/metrics
const http = require('node:http');
const tf = require('@tensorflow/tfjs');
const ebb = require('ebb-tfjs');

ebb.reclaim.on();

function predict() {
  const scores = tf
    .randomNormal([1, 784])
    .matMul(tf.ones([784, 10]))
    .softmax();
  return Array.from(scores.dataSync());
}

const server = http.createServer((request, response) => {
  if (request.url === '/metrics') {
    response.setHeader('content-type', ebb.METRICS_TYPE);
    response.end(ebb.metrics());
  } else response.end(JSON.stringify(predict()));
});
server.listen(Number(process.env.PORT ?? 9464), () => console.log(server.address().port));
