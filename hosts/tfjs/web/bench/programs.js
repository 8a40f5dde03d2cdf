// What is timed in a page: milliseconds of a batch. Loaded after test/programs.js; `reclaim: false` leaves Ebb out.

/** Waits for the GPU, which takes its work in turn. What was read before is at hand, and is not waited for. */
async function readAndDrop(tensor) {
  await tensor.data();
  tensor.dispose();
}

/** Work of good code: everything tidied. Each is made once, and called many times. */
const WORK = {
  /** Large enough that TensorFlow.js does not leave it to the CPU. */
  add() {
    const a = tf.add(tf.ones([2048]), 1);
    return { once: () => tf.tidy(() => void tf.add(a, 1)), done: () => readAndDrop(tf.add(a, 1)) };
  },

  /** Three dense layers would be matrix products, at which GPUs made of software are far too slow to show a difference. */
  step() {
    const weights = tf.variable(tf.fill([4096], 0.1));
    const inputs = tf.fill([16, 4096], 0.5);
    const optimizer = tf.train.sgd(1e-3);
    const loss = () => tf.mean(tf.square(tf.sub(tf.tanh(tf.mul(inputs, weights)), 0.3)));
    return {
      once: () => void tf.tidy(() => void optimizer.minimize(loss, false, [weights])),
      done: () => weights.data(),
    };
  },
};

let work;
Object.assign(globalThis.programs, {
  async prepare({ name, ...options }) {
    await globalThis.beginProgram(options);
    work = WORK[name]();
    return {};
  },

  async batch({ calls }) {
    const start = performance.now();
    for (let i = 0; i < calls; i++) work.once();
    await work.done();
    return { ms: performance.now() - start };
  },

  /** Forced collections beside a heap: Ebb's, and the same pushes by hand, which are the browser's part of it. */
  async pauses({ heap, turns, ...options }) {
    await globalThis.beginProgram(options);
    const held = globalThis.fillHeap(heap);
    const ours = [];
    const browsers = [];
    for (let i = 0; i < turns; i++) {
      for (let j = 0; j < 20; j++) tf.fill([256, 256], j);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const start = performance.now();
      ebb.collect('major');
      ours.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const again = performance.now();
      for (let j = 0; j < 2; j++) new ArrayBuffer(65 * globalThis.MB);
      for (let j = 0; j < 2; j++) new WebAssembly.Memory({ initial: 65536, maximum: 65536 });
      browsers.push(performance.now() - again);
    }
    return { ours, browsers, held: held.length, pressure: ebb.pressure() };
  },
});
