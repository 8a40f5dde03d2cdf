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

  /** What a careless program waits for beside a heap, at most, and what a collection takes that it asks for. */
  async pauses({ heap, turns, ...options }) {
    const held = await quietHeap(heap);
    const { pressure, got, expected } = await globalThis.programs.careless(options);
    if (got !== expected) throw new Error(`${got}, not ${expected}`);
    const asked = await timedTurns(turns, () => ebb.collect('major'));
    return { longest: pressure.longestMs, pressure, asked, held: held.length };
  },

  /** The same of a page that has no Ebb and makes no tensors: a collection of young objects, and a full one. */
  async barePauses({ heap, turns }) {
    const held = await quietHeap(heap);
    const young = await timedTurns(turns, () => {
      new ArrayBuffer(65 * globalThis.MB);
      new ArrayBuffer(1);
    });
    const full = await timedTurns(turns, collectAll);
    return { young, full, held: held.length };
  },
});

function collectAll() {
  for (let j = 0; j < 2; j++) new ArrayBuffer(65 * globalThis.MB);
  for (let j = 0; j < 2; j++) new WebAssembly.Memory({ initial: 65536, maximum: 65536 });
}

/** A heap that was there before: what is new is moved by the first collections, which takes time once. */
async function quietHeap(megabytes) {
  const held = globalThis.fillHeap(megabytes);
  for (let i = 0; i < 3; i++) {
    collectAll();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return held;
}

/** Milliseconds of each; between them there is time, and something dies. */
async function timedTurns(turns, work) {
  const times = [];
  for (let i = 0; i < turns; i++) {
    globalThis.fillHeap(0.1);
    await new Promise((resolve) => setTimeout(resolve, 40));
    const start = performance.now();
    work();
    times.push(performance.now() - start);
  }
  return times;
}
