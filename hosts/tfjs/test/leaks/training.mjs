// A training loop that keeps every prediction, if LEAK=1; for SECONDS, never letting the event loop turn.
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';

const leaks = process.env.LEAK === '1';

async function train(seconds) {
  const history = [];
  const model = tf.sequential({
    layers: [
      tf.layers.dense({ units: 64, activation: 'relu', inputShape: [100] }),
      tf.layers.dense({ units: 512, activation: 'softmax' }),
    ],
  });
  model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
  const end = Date.now() + 1000 * seconds;
  while (Date.now() < end) {
    const xs = tf.randomNormal([256, 100]);
    const ys = tf.zeros([256, 512]);
    await model.trainOnBatch(xs, ys);
    const predicted = model.predict(xs);
    if (leaks) history.push(predicted);
  }
  // All is held to the end: what is dropped may be given back before anybody looks at it.
  // A promise that nobody can resolve would not hold what waits for it.
  await new Promise((goOn) => process.once('exit', goOn) && setTimeout(() => process.exit(0), 0));
  return history.length;
}

await tf.setBackend('wasm');
await train(Number(process.env.SECONDS));
