// Programs as people write them, a step each: networks that see pictures, sequences and games. Weights are random.

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { normalised } = require('./support/models.cjs');

const tidily = (tf, step) => () => tf.tidy(() => void step());

// ---- pictures

/** MobileNetV1 at its full width, for pictures of 224. */
function mobileNet(tf) {
  const { layers } = tf;
  const model = tf.sequential();
  const norm = () => {
    model.add(layers.batchNormalization({ epsilon: 1e-3 }));
    model.add(layers.reLU({ maxValue: 6 }));
  };
  const conv = (filters, kernelSize, strides, more = {}) => {
    model.add(
      layers.conv2d({ filters, kernelSize, strides, padding: 'same', useBias: false, ...more }),
    );
    norm();
  };
  conv(32, 3, 2, { inputShape: [224, 224, 3] });
  const blocks = [64, 128, 128, 256, 256, ...Array(6).fill(512), 1024, 1024];
  const strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1];
  blocks.forEach((filters, i) => {
    const depthwise = { kernelSize: 3, strides: strides[i], padding: 'same', useBias: false };
    model.add(layers.depthwiseConv2d(depthwise));
    norm();
    conv(filters, 1, 1);
  });
  model.add(layers.globalAveragePooling2d({}));
  model.add(layers.dense({ units: 1000, activation: 'softmax' }));
  return model;
}

function resNet18(tf) {
  const { layers } = tf;
  const conv = (x, filters, kernelSize, strides, relu = true) => {
    let y = layers
      .conv2d({ filters, kernelSize, strides, padding: 'same', useBias: false })
      .apply(x);
    y = layers.batchNormalization().apply(y);
    return relu ? layers.reLU().apply(y) : y;
  };
  const block = (x, filters, strides) => {
    const y = conv(conv(x, filters, 3, strides), filters, 3, 1, false);
    const short = strides === 1 && x.shape[3] === filters ? x : conv(x, filters, 1, strides, false);
    return layers.reLU().apply(layers.add().apply([y, short]));
  };
  const input = tf.input({ shape: [224, 224, 3] });
  let x = conv(input, 64, 7, 2);
  x = layers.maxPooling2d({ poolSize: 3, strides: 2, padding: 'same' }).apply(x);
  for (const [filters, strides] of [64, 128, 256, 512].flatMap((filters, i) => [
    [filters, i === 0 ? 1 : 2],
    [filters, 1],
  ])) {
    x = block(x, filters, strides);
  }
  x = layers.globalAveragePooling2d({}).apply(x);
  const outputs = layers.dense({ units: 1000, activation: 'softmax' }).apply(x);
  return tf.model({ inputs: input, outputs });
}

function predicting(tf, model, shape) {
  const x = tf.randomUniform(shape);
  return () => model.predict(x).dispose();
}

const CAMERA = join(__dirname, '..', '..', '..', 'build', 'bench', 'camera.jpg'); // backend.mjs makes it

/** From the bytes of a JPEG of a camera to what a network takes. */
function preparing(tf) {
  const bytes = readFileSync(CAMERA);
  return tidily(tf, () => {
    const image = tf.node.decodeJpeg(bytes, 3);
    return tf.image.resizeBilinear(image, [224, 224]).div(127.5).sub(1).expandDims();
  });
}

// ---- sequences

function recurrent(tf, kind) {
  const model = tf.sequential();
  model.add(tf.layers[kind]({ units: 64, inputShape: [32, 16] }));
  model.add(tf.layers.dense({ units: 1 }));
  model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
  const [x, y] = [tf.randomUniform([32, 32, 16]), tf.randomUniform([32, 1])];
  return () => model.trainOnBatch(x, y);
}

/** Two layers of a transformer's encoder: 64 positions of 128, 4 heads, batch 8. */
function transformer(tf) {
  const [batch, length, width, heads] = [8, 64, 128, 4];
  const weight = (...shape) => tf.variable(tf.randomNormal(shape, 0, 0.05));
  const layers = Array.from({ length: 2 }, () => ({
    qkv: weight(width, 3 * width),
    out: weight(width, width),
    up: weight(width, 4 * width),
    down: weight(4 * width, width),
  }));
  const norm = (x) => normalised(tf, x);
  const attend = (x, { qkv, out }) => {
    const parts = x.reshape([-1, width]).matMul(qkv).reshape([batch, length, 3, heads, -1]);
    const [q, k, v] = parts.transpose([2, 0, 3, 1, 4]).unstack();
    const scores = tf.matMul(q, k, false, true).div(Math.sqrt(width / heads));
    const mixed = tf.matMul(tf.softmax(scores), v).transpose([0, 2, 1, 3]);
    return mixed.reshape([-1, width]).matMul(out).reshape([batch, length, width]);
  };
  const x = tf.randomNormal([batch, length, width]);
  return tidily(tf, () => {
    let y = x;
    for (const layer of layers) {
      y = y.add(attend(norm(y), layer));
      const inner = norm(y).reshape([-1, width]).matMul(layer.up).relu().matMul(layer.down);
      y = y.add(inner.reshape([batch, length, width]));
    }
    return y;
  });
}

// ---- two networks against each other, and games

function dcgan(tf) {
  const { layers } = tf;
  const generator = tf.sequential();
  generator.add(layers.dense({ units: 7 * 7 * 32, inputShape: [32], activation: 'relu' }));
  generator.add(layers.reshape({ targetShape: [7, 7, 32] }));
  for (const [filters, activation] of [
    [16, 'relu'],
    [1, 'tanh'],
  ]) {
    generator.add(
      layers.conv2dTranspose({ filters, kernelSize: 5, strides: 2, padding: 'same', activation }),
    );
  }
  const critic = tf.sequential();
  const shape = { inputShape: [28, 28, 1] };
  critic.add(layers.conv2d({ filters: 16, kernelSize: 5, strides: 2, padding: 'same', ...shape }));
  critic.add(layers.leakyReLU());
  critic.add(layers.conv2d({ filters: 32, kernelSize: 5, strides: 2, padding: 'same' }));
  critic.add(layers.leakyReLU());
  critic.add(layers.flatten());
  critic.add(layers.dense({ units: 1 }));
  const [one, other] = [tf.train.adam(2e-4), tf.train.adam(2e-4)];
  const variables = (model) => model.trainableWeights.map((weight) => weight.val);
  const real = tf.randomUniform([16, 28, 28, 1]);
  const loss = (logits, target) =>
    tf.losses.sigmoidCrossEntropy(tf.fill(logits.shape, target), logits);
  return tidily(tf, () => {
    const noise = tf.randomNormal([16, 32]);
    one.minimize(
      () =>
        loss(critic.apply(real, { training: true }), 1).add(
          loss(critic.apply(generator.apply(noise), { training: true }), 0),
        ),
      false,
      variables(critic),
    );
    other.minimize(
      () => loss(critic.apply(generator.apply(noise, { training: true })), 1),
      false,
      variables(generator),
    );
  });
}

/** Looks, acts, remembers, and learns from 32 memories. */
function dqn(tf) {
  const network = () => {
    const model = tf.sequential();
    model.add(tf.layers.dense({ units: 64, inputShape: [8], activation: 'relu' }));
    model.add(tf.layers.dense({ units: 64, activation: 'relu' }));
    model.add(tf.layers.dense({ units: 4 }));
    return model;
  };
  const [online, target] = [network(), network()];
  const optimizer = tf.train.adam(1e-3);
  const states = new Float32Array(32 * 8).map(() => Math.random());
  const actions = Int32Array.from({ length: 32 }, () => Math.floor(Math.random() * 4));
  return tidily(tf, () => {
    online
      .predict(tf.tensor2d(states.subarray(0, 8), [1, 8]))
      .argMax(-1)
      .dataSync();
    const x = tf.tensor2d(states, [32, 8]);
    const best = target.predict(x).max(-1).mul(0.99).add(1);
    const mask = tf.oneHot(tf.tensor1d(actions, 'int32'), 4);
    optimizer.minimize(() => tf.losses.meanSquaredError(best, online.apply(x).mul(mask).sum(-1)));
  });
}

/** The ten nearest of 20,000 points of 128 numbers, for one. */
function nearest(tf) {
  const points = tf.randomNormal([20000, 128]);
  const one = tf.randomNormal([1, 128]);
  return tidily(tf, () => {
    const distances = points.sub(one).square().sum(-1);
    return tf.topk(distances.neg(), 10).indices.dataSync();
  });
}

/** The ten most alike of 20,000 points of 256 numbers, for 16. */
function alike(tf) {
  const points = tf.randomNormal([20000, 256]);
  const queries = tf.randomNormal([256, 16]);
  return tidily(tf, () => tf.topk(points.matMul(queries).transpose(), 10).indices.dataSync());
}

module.exports = {
  mobileNet,
  resNet18,
  mobileNet1: (tf) => predicting(tf, mobileNet(tf), [1, 224, 224, 3]),
  mobileNet8: (tf) => predicting(tf, mobileNet(tf), [8, 224, 224, 3]),
  resNet1: (tf) => predicting(tf, resNet18(tf), [1, 224, 224, 3]),
  resNet8: (tf) => predicting(tf, resNet18(tf), [8, 224, 224, 3]),
  lstm: (tf) => recurrent(tf, 'lstm'),
  gru: (tf) => recurrent(tf, 'gru'),
  transformer,
  dcgan,
  dqn,
  nearest,
  alike,
  jpeg: preparing,
};
