// What is recorded and what is not: the same programs, with `ebb.record` around what repeats where backend is 'recorded'.
const record =
  process.argv[3] === 'recorded' ? (what) => require('..').record(what) : (what) => what;

function network(tf, sizes, more = {}) {
  const model = tf.sequential();
  sizes.slice(1).forEach((units, i) => {
    const isLast = i === sizes.length - 2;
    model.add(
      tf.layers.dense({
        units,
        inputShape: i === 0 ? [sizes[0]] : undefined,
        activation: isLast ? more.last : 'relu',
        kernelInitializer: more.kernelInitializer,
      }),
    );
  });
  return model;
}

function recordedPredict(tf) {
  const sizes = new Array(41).fill(128);
  const model = record(network(tf, sizes, { last: 'relu', kernelInitializer: 'ones' }));
  const x = tf.ones([1, 128]);
  return () => model.predict(x).dispose();
}

function recordedTrain(tf) {
  const model = network(tf, [784, 128, 64, 10], { last: 'softmax' });
  model.compile({ optimizer: 'adam', loss: 'categoricalCrossentropy' });
  record(model);
  const x = tf.randomUniform([32, 784]);
  const y = tf.oneHot(tf.randomUniform([32], 0, 10, 'int32'), 10);
  return () => model.trainOnBatch(x, y);
}

function recordedLstm(tf) {
  const model = tf.sequential();
  model.add(tf.layers.lstm({ units: 128, inputShape: [40, 64] }));
  model.add(tf.layers.dense({ units: 1 }));
  model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
  record(model);
  const [x, y] = [tf.randomUniform([32, 40, 64]), tf.randomUniform([32, 1])];
  return () => model.trainOnBatch(x, y);
}

/** Ten looks at one state each, and a step of learning from 32. */
function recordedDqn(tf) {
  const model = network(tf, [4, 24, 24, 2]);
  model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
  record(model);
  const state = new Float32Array(4).fill(0.1);
  const [x, y] = [tf.randomUniform([32, 4]), tf.randomUniform([32, 2])];
  return async () => {
    for (let i = 0; i < 10; i++) {
      const looked = tf.tensor2d(state, [1, 4]);
      const values = model.predict(looked);
      values.dataSync();
      tf.dispose([looked, values]);
    }
    await model.trainOnBatch(x, y);
  };
}

module.exports = { recordedPredict, recordedTrain, recordedLstm, recordedDqn };
