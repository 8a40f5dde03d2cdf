// A program as people write it: nothing is disposed of, nothing is tidied. Without Ebb its tensors stay for ever.
const tf = require('@tensorflow/tfjs');

const weights = tf.variable(tf.randomNormal([64, 10]));
for (let step = 1; step <= 20000; step++) {
  const batch = tf.randomNormal([8, 64]);
  batch.matMul(weights).softmax();
  if (step % 5000 === 0) console.log(`step ${step}: ${tf.memory().numTensors} tensors`);
}
console.log(tf.memory().numTensors < 20000 ? 'flat' : 'growing');
