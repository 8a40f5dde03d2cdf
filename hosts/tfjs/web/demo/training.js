// Training, carelessly, in the page or in a worker: nothing is disposed of, nothing tidied.

/** Without reclaim it must end somewhere. */
const STOP_BYTES = 1.5e9;
const BUDGET = '200MB';

/** What the backend has taken of the GPU. */
function allocatedBytes() {
  const { bufferManager, textureManager } = tf.backend();
  return (bufferManager ?? textureManager).numBytesAllocated;
}

/** What the page shows of a step. */
function reading(step, loss, start) {
  const { live, liveBytes, created, reclaimed, budget, collections } = ebb.memory();
  return {
    seconds: (performance.now() - start) / 1000,
    step,
    loss,
    reclaim: ebb.reclaim.isOn,
    allocated: allocatedBytes(),
    live,
    liveBytes,
    created,
    reclaimed,
    budget,
    collections: collections.minor + collections.major,
    longestMs: collections.longestMs,
    // What the browser can tell; only Chromium does.
    heap: performance.memory?.usedJSHeapSize,
  };
}

function setReclaim(on) {
  if (on) ebb.reclaim.on();
  else ebb.reclaim.off();
}

async function begin(backend) {
  await tf.setBackend(backend);
  await tf.ready();
  if (tf.getBackend() !== backend) throw new Error(`This browser has no ${backend}.`);
  await ebb.load();
  ebb.budget(BUDGET);
  ebb.tidy(() => {}); // the books begin here, also without reclaim
}

/** A step on a batch of a million numbers. Each tensor of them takes four megabytes; six are dropped. */
function trainStep(step, weights, optimizer) {
  const inputs = tf.fill([1024, 1024], ((step * 7) % 11) / 11 - 0.5);
  const wanted = tf.tanh(tf.mul(inputs, 0.7));
  const guess = () => tf.tanh(tf.mul(inputs, weights));
  tf.max(tf.abs(tf.sub(guess(), wanted))); // the largest error, at which nobody looks
  return optimizer.minimize(() => tf.mean(tf.square(tf.sub(guess(), wanted))), true, [weights]);
}

/** Trains until `control.ended`, or too much is taken. `control.reclaim` may change meanwhile; `report` hears of each step. */
async function train(control, report) {
  await begin(control.backend);
  const weights = tf.variable(tf.fill([1024], 0.1));
  const optimizer = tf.train.sgd(50);
  const start = performance.now();
  for (let step = 0; !control.ended; step++) {
    if (ebb.reclaim.isOn !== control.reclaim) setReclaim(control.reclaim);
    const [loss] = await trainStep(step, weights, optimizer).data();
    const now = reading(step, loss, start);
    report(now);
    if (now.allocated > STOP_BYTES) return 'stopped at 1.5 GB';
  }
  return 'stopped';
}
globalThis.train = train;
