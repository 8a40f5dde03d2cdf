import * as tf from 'ebb-tfjs/backend';
import * as ebb from 'ebb-tfjs';

ebb.reclaim.on();
for (let i = 0; i < 20000; i++) tf.add(tf.tensor1d([i]), 1);
const sum = tf
  .matMul(tf.ones([4, 4]), tf.ones([4, 4]))
  .sum()
  .dataSync()[0];
console.log(tf.getBackend(), sum, tf.memory().numTensors < 30000);
