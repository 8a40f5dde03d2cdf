// Prints the most bytes that a step of training had at once: tape_peak.cjs <network>; EBB_TAPE says how its gradients
// are taken.
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');

const weights = (...shape) => tf.variable(tf.randomNormal(shape, 0, 0.05, 'float32', 1));

/** What each makes of its input, and that. */
const networks = {
  convolutions() {
    const w = weights(3, 3, 8, 8);
    const layer = (y) =>
      tf
        .relu(tf.conv2d(y, w, 1, 'same'))
        .mul(1.5)
        .tanh();
    return [tf.ones([16, 24, 24, 8]), (x) => [1, 2, 3, 4, 5].reduce(layer, x)];
  },
  products() {
    const all = [weights(256, 512), weights(512, 512), weights(512, 64)];
    const bias = weights(512);
    return [
      tf.ones([128, 256]),
      (x) => x.matMul(all[0]).add(bias).relu().matMul(all[1]).elu().matMul(all[2]).softmax(),
    ];
  },
  recurrent() {
    const [w, u, b] = [weights(32, 128), weights(128, 128), weights(128)];
    const step = (h, x) => tf.tanh(x.matMul(w).add(h.matMul(u)).add(b)).mul(h.sigmoid());
    return [tf.ones([20, 64, 32]), (x) => tf.unstack(x).reduce(step, tf.zeros([64, 128]))];
  },
  normalised() {
    const w = weights(1, 1, 16, 16);
    const [offset, scale] = [weights(16), weights(16)];
    const layer = (y) => {
      const z = tf.conv2d(y, w, 1, 'same');
      const { mean, variance } = tf.moments(z, [0, 1, 2]);
      return tf.batchNorm(z, mean, variance, offset, scale).relu();
    };
    return [tf.ones([8, 20, 20, 16]), (x) => tf.avgPool([1, 2, 3].reduce(layer, x), 3, 2, 'same')];
  },
  attention() {
    const [q, k, v] = [weights(64, 64), weights(64, 64), weights(64, 64)];
    const heads = (y, w) => y.reshape([-1, 64]).matMul(w).reshape([8, 48, 4, 16]);
    const turned = (y, w) => heads(y, w).transpose([0, 2, 1, 3]);
    const layer = (y) => {
      const scores = tf.matMul(turned(y, q), turned(y, k), false, true).mul(0.25).softmax();
      const mixed = tf.matMul(scores, turned(y, v)).transpose([0, 2, 1, 3]).reshape([8, 48, 64]);
      const sum = mixed.add(y);
      return sum.sub(sum.mean(-1, true)).div(tf.moments(sum, -1, true).variance.add(1).sqrt());
    };
    return [tf.ones([8, 48, 64]), (x) => [1, 2].reduce(layer, x)];
  },
};

const [x, network] = networks[process.argv[2]]();
tf.dispose(tf.variableGrads(() => network(x).square().mean()));
const { native } = ebb.tape.info();
const wanted = process.env.EBB_TAPE === '0' ? 0 : 1;
if (native !== wanted) throw new Error(`${native} gradients were native, not ${wanted}`);
console.log(ebb.report({ json: true }).books.bytes.peak_live);
