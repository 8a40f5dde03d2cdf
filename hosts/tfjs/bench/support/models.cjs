// Parts of networks that several benchmarks have.

/** Forty dense layers of 128. */
function dense40(tf, kernelInitializer) {
  const model = tf.sequential();
  for (let i = 0; i < 40; i++) {
    model.add(
      tf.layers.dense({ units: 128, inputShape: [128], activation: 'relu', kernelInitializer }),
    );
  }
  return model;
}

/** Of mean 0 and variance 1 along the last axis. */
function normalised(tf, x) {
  const { mean, variance } = tf.moments(x, -1, true);
  return x.sub(mean).div(variance.add(1e-5).sqrt());
}

module.exports = { dense40, normalised };
