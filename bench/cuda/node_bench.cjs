// Backend ebb-cuda's side of the figures from Node: node node_bench.cjs [small]. Prints one JSON object, figure -> value.
// EBB_NODE_ROOT is the package's folder; small: a few rounds on backend ebb, to see that it runs.
const { join } = require('node:path');

const small = process.argv.includes('small');
process.env.EBB_DEVICE = small ? 'cpu' : 'cuda:0';
const root = process.env.EBB_NODE_ROOT ?? join(__dirname, '..', 'node');
const tf = require(join(root, 'dist', 'backend'));

const ROUNDS = small ? 2 : 7;
const SCALE = small ? 50 : 1;

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** The median over rounds of what one of `times` repetitions takes; `wait` comes after the last. */
async function microseconds(times, work, wait) {
  const rounds = [];
  times = Math.max(1, Math.floor(times / SCALE));
  for (let round = -1; round < ROUNDS; round++) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < times; i++) await work();
    wait();
    if (round >= 0) rounds.push(Number(process.hrtime.bigint() - begin) / 1e3 / times);
  }
  return median(rounds);
}

/** The same for work that is done when it returns: no promise between two of them. */
async function synchronousMicroseconds(times, work, wait) {
  return microseconds(1, () => {
    for (let i = 0; i < times; i++) work();
  }, wait).then((all) => all / times);
}

async function main() {
  const figures = {};
  const x = tf.tensor1d([1, 2, 3, 4, 5, 6, 7, 8]);
  const wait = () => x.add(0).dataSync();
  for (let i = 0; i < 20000 / SCALE; i++) x.add(x).dispose(); // until V8 has compiled it for good
  wait();
  figures.add_8_node = await synchronousMicroseconds(1000 / SCALE, () => x.add(x).dispose(), wait);

  const model = tf.sequential();
  model.add(tf.layers.dense({ inputShape: [784], units: 128, activation: 'relu' }));
  model.add(tf.layers.dense({ units: 64, activation: 'relu' }));
  model.add(tf.layers.dense({ units: 10, activation: 'softmax' }));
  model.compile({ optimizer: tf.train.adam(), loss: 'categoricalCrossentropy' });
  const images = tf.randomUniform([32, 784], 0, 1, 'float32', 1);
  const labels = tf.oneHot(tf.randomUniform([32], 0, 10, 'int32', 2), 10);
  const first = await model.trainOnBatch(images, labels);
  figures.mlp_32_adam_node = await microseconds(200, () => model.trainOnBatch(images, labels), wait);
  const last = await model.trainOnBatch(images, labels);
  if (!(last < first)) throw new Error(`the loss went from ${first} to ${last}`);

  const ebb = require(root);
  ebb.record(model);
  for (let i = 0; i < 10; i++) await model.trainOnBatch(images, labels);
  figures.mlp_32_adam_node_recorded = await microseconds(500, () => model.trainOnBatch(images, labels), wait);
  const end = await model.trainOnBatch(images, labels);
  if (!(end < last)) throw new Error(`recorded, the loss went from ${last} to ${end}`);

  const recurrent = tf.sequential();
  recurrent.add(tf.layers.lstm({ units: 128, inputShape: [40, 64] }));
  recurrent.add(tf.layers.dense({ units: 1 }));
  recurrent.compile({ optimizer: tf.train.adam(), loss: 'meanSquaredError' });
  ebb.record(recurrent);
  const [sequences, targets] = [tf.randomUniform([32, 40, 64]), tf.randomUniform([32, 1])];
  const step = () => recurrent.trainOnBatch(sequences, targets);
  for (let i = 0; i < 10; i++) await step();
  figures.lstm_node_recorded = await microseconds(100, step, wait);

  for (const backend of ['eager', 'recorded']) {
    const networks = require(join(root, 'bench', 'networks.cjs')).worksOn(backend);
    for (const [name, network] of [['mobilenet_1', 'mobileNet1'], ['encoder_1', 'encoder']]) {
      const predict = networks[`network_${network}`](tf);
      for (let i = 0; i < 10; i++) predict();
      const figure = `${name}_node${backend === 'recorded' ? '_recorded' : ''}`;
      figures[figure] = await synchronousMicroseconds(200 / SCALE, predict, wait);
    }
  }
  console.log(JSON.stringify(figures));
}

main();
