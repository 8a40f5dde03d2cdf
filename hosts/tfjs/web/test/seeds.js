// The examples of the documents that started this, as a page runs them. Loaded after programs.js; each gives counts of
// tensors: at its start and in the end, and what it looked at between.

const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Tensors that are left once all that is dead has come back. */
async function collected() {
  let before = Infinity;
  for (let i = 0; i < 20; i++) {
    await soon(10); // a frame of this job may hold what it used last
    ebb.collect();
    const now = tf.memory().numTensors;
    if (now === before) return now;
    before = now;
  }
  return before;
}

/** What a page has before it does anything, what it has after, and what it told. */
async function from(options, example) {
  await globalThis.beginProgram(options);
  const start = await collected();
  const seen = await example(start);
  return { ...seen, start, end: await collected() };
}

Object.assign(globalThis.programs, {
  droppedAfterAwait: (options) =>
    from(options, async () => {
      async function leakyOperation() {
        const a = tf.tensor1d([1, 2, 3]); // Tensor created
        await soon(1); // Asynchronous operation
        return void a;
      }
      for (let i = 0; i < 100; i++) await leakyOperation();
    }),

  disposedAfterAwait: (options) =>
    from(options, async (start) => {
      for (let i = 0; i < 100; i++) {
        const a = tf.tensor1d([1, 2, 3]);
        await soon(1);
        a.dispose(); // Explicitly release the GPU memory
      }
      return { left: tf.memory().numTensors - start };
    }),

  tidyInPromise: (options) =>
    from(options, async (start) => {
      const operation = async () =>
        tf.tidy(() => tf.add(tf.tensor1d([1, 2, 3]), tf.tensor1d([4, 5, 6])));
      const result = await operation();
      const during = tf.memory().numTensors - start;
      const values = [...(await result.data())];
      result.dispose();
      return { during, values, left: tf.memory().numTensors - start };
    }),

  heldByArray: (options) =>
    from(options, async (start) => {
      async function leakyFunction() {
        const tensors = [];
        for (let i = 0; i < 300; i++) tensors.push(tf.tensor1d(Array(1000).fill(i)));
        ebb.collect();
        const held = tf.memory().numTensors - start;
        let wrong = 0;
        for (const [i, tensor] of tensors.entries()) if ((await tensor.data())[999] !== i) wrong++;
        return { held, wrong };
      }
      return leakyFunction();
    }),

  nextFrameAndDispose: (options) =>
    from(options, async (start) => {
      for (let i = 0; i < 20; i++) {
        const tensor = tf.tensor1d(Array(1000).fill(i));
        await tf.nextFrame(); // Ensure operations are completed before disposal.
        tensor.dispose();
      }
      return { left: tf.memory().numTensors - start };
    }),

  /** Models over HTTP: one disposed of, three dropped. */
  modelsOverHttp: (options) =>
    from(options, async () => {
      const sums = [];
      async function modelManagement(disposing) {
        const input = tf.ones([1, 2]);
        const model = await tf.loadLayersModel(`${location.origin}/model/model.json`);
        const [first] = await model.predict(input).data();
        sums.push(first);
        if (!disposing) return;
        model.dispose();
        input.dispose();
        await tf.nextFrame();
      }
      await modelManagement(true);
      for (let i = 0; i < 3; i++) await modelManagement(false);
      return { sums };
    }),

  listeners: (options) =>
    from(options, async () => {
      const target = new EventTarget();
      const calls = [];
      const ended = new AbortController();
      (() => {
        const weights = tf.ones([10]);
        const heard = () => calls.push(weights.sum());
        target.addEventListener('data', heard, { signal: ended.signal });
      })();
      const held = await collected();
      ended.abort();
      return { held };
    }),

  /** A mess, and then nothing at all: no call of anything that would be a safe point. */
  async leftAlone(options) {
    await globalThis.beginProgram(options);
    await tf.add(tf.ones([10]), 1).data();
    await soon(2000);
    const start = { tensors: tf.memory().numTensors, bytes: globalThis.allocatedBytes() };
    await (async () => {
      const model = await tf.loadLayersModel(`${location.origin}/model/model.json`);
      for (let i = 0; i < 20; i++) await tf.add(tf.fill([512, 1024], i), 1).data();
      await model.predict(tf.ones([1, 2])).data();
    })();
    const most = { tensors: tf.engine().state.numTensors, bytes: globalThis.allocatedBytes() };
    let end;
    for (let seconds = 0; seconds < 60; seconds++) {
      await soon(1000);
      end = { tensors: tf.engine().state.numTensors, bytes: globalThis.allocatedBytes() };
      if (end.tensors <= start.tensors && end.bytes <= start.bytes) break;
    }
    return { start, most, end };
  },
});
