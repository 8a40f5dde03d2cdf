// Prints the most bytes that a step of training had at once; EBB_TAPE says how its gradients are taken.
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');

const x = tf.ones([16, 24, 24, 8]);
const w = tf.variable(tf.fill([3, 3, 8, 8], 0.01));
const loss = () => {
  let y = x;
  for (let i = 0; i < 5; i++)
    y = tf
      .relu(tf.conv2d(y, w, 1, 'same'))
      .mul(1.5)
      .tanh();
  return y.sum();
};
tf.dispose(tf.variableGrads(loss));
console.log(ebb.report({ json: true }).books.bytes.peak_live);
