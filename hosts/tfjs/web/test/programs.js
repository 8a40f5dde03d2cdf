// What runs in a page, in a worker, and on Node's GPUs (gpu/). `tf` and `ebb` are global there; each function gives what
// the test looks at.

const MB = 2 ** 20;

/** What the backend has taken of the GPU, used or kept for reuse. */
function allocated() {
  const { bufferManager, textureManager } = tf.backend();
  return (bufferManager ?? textureManager).numBytesAllocated;
}

const waits = {
  raf: () => new Promise((resolve) => requestAnimationFrame(resolve)),
  timeout: () => new Promise((resolve) => setTimeout(resolve)),
  data: (tensor) => tensor.data(),
  never: undefined,
};

/** A heap beside which the collector is in no hurry. */
function fillHeap(megabytes) {
  const held = [];
  for (let i = 0; i < megabytes * 12_000; i++) held.push({ i, also: [i] });
  return held;
}

/** `ebb: false` leaves it out altogether. */
async function begin({ backend, budget, reclaim = true, ebb: present = true }) {
  await tf.setBackend(backend);
  await tf.ready();
  if (tf.getBackend() !== backend) throw new Error(`${backend} is not there`);
  if (!present) return;
  await ebb.load?.(); // Node has no such thing
  if (budget !== undefined) ebb.budget(budget);
  if (reclaim) ebb.reclaim.on();
}

/** Drops two tensors of 4 MB each time round, and carries a sum along that tells of any that went too early. */
async function carelessLoop({ rounds, wait, disposing = false }) {
  const pause = waits[wait];
  let sum = tf.scalar(0);
  let expected = 0;
  let peak = 0;
  for (let i = 0; i < rounds; i++) {
    const filled = tf.fill([1024, 1024], i % 7);
    const more = tf.add(filled, 1);
    const mean = tf.mean(more);
    const before = sum;
    sum = tf.add(sum, mean);
    if (disposing) tf.dispose([filled, more, mean, before]);
    expected += (i % 7) + 1;
    peak = Math.max(peak, allocated());
    if (pause !== undefined && i % 5 === 4) await pause(sum);
  }
  const [got] = await sum.data();
  return { got, expected, peak };
}

const programs = {
  async careless(options) {
    await begin(options);
    const heap = fillHeap(options.heap ?? 0);
    const start = performance.now();
    const result = await carelessLoop(options);
    const ms = performance.now() - start;
    if (options.reclaim !== false) ebb.audit();
    const {
      created,
      live,
      disposed,
      regionEnded,
      reclaimed,
      shutdown,
      peakLiveBytes,
      collections,
    } = ebb.memory();
    return {
      ...result,
      ms,
      heap: heap.length,
      live,
      balanced: created === live + disposed + regionEnded + reclaimed + shutdown,
      reclaimed,
      peakLiveBytes,
      collections,
      pressure: ebb.pressure?.(),
    };
  },
};

/** What a call throws: its code and message. */
async function thrownBy(call) {
  try {
    await call();
  } catch ({ code, message }) {
    return { code, message };
  }
  return undefined;
}

/** headless-gl has a way of its own. */
function loseContext(gl) {
  const extension = gl.getExtension('WEBGL_lose_context');
  if (extension != null) extension.loseContext();
  else gl.getExtension('STACKGL_destroy_context').destroy();
}

/** A new device after the one that was lost. */
async function beginAgain(backend) {
  tf.engine().reset();
  await tf.setBackend(backend);
  const [value] = await tf.add(tf.fill([10], 3), 4).data();
  return value;
}

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

Object.assign(programs, {
  /** Before the core is there. */
  async unloaded() {
    const early = await thrownBy(() => ebb.reclaim.on());
    const nowhere = await thrownBy(() => ebb.load('/nowhere.wasm'));
    await ebb.load();
    await ebb.load();
    return { early, nowhere, budget: ebb.budget(), deviceMemory: navigator.deviceMemory };
  },

  /** Two async tidies whose waits interleave: each ends what was made in it and in its scope's `run`. */
  async tidyInterleaved(options) {
    await begin(options);
    const numbers = [];
    const one = (name, ms) =>
      ebb.tidy(name, async (scope) => {
        const first = tf.tensor1d([1, 2, 3]);
        await later(ms);
        const second = scope.run(() => tf.add(first, 1));
        numbers.push(tf.memory().numTensors);
        await later(ms);
        return scope.run(() => tf.sum(second));
      });
    const before = tf.memory().numTensors;
    const [a, b] = await Promise.all([one('a', 20), one('b', 30)]);
    const left = tf.memory().numTensors - before;
    let ended;
    await ebb.tidy(async (scope) => (ended = scope));
    return {
      left,
      numbers,
      values: [a.dataSync()[0], b.dataSync()[0]],
      afterwards: await thrownBy(() => ended.run(() => tf.scalar(1))),
      notAFunction: await thrownBy(() => ebb.tidy(5)),
      thrown: await thrownBy(() =>
        ebb.tidy(async () => {
          tf.scalar(1);
          await later(1);
          throw new Error('mine');
        }),
      ),
      leftAfterError: tf.memory().numTensors - before,
    };
  },

  async leaks(options) {
    await begin(options);
    const held = [];
    const careless = await thrownBy(() =>
      ebb.expectNoLeaks(async (scope) => {
        await later(1);
        scope.run(() => held.push(tf.scalar(1)));
      }),
    );
    const careful = await thrownBy(() =>
      ebb.expectNoLeaks(() => tf.tidy(() => tf.scalar(1).add(1))),
    );
    return { careless, careful, held: held.length };
  },

  async reports(options) {
    await begin(options);
    ebb.trace.on();
    const kept = [];
    function aPlaceWithAName() {
      for (let i = 0; i < 5; i++) kept.push(tf.fill([256, 256], i));
    }
    aPlaceWithAName();
    const text = ebb.report();
    const json = ebb.report({ json: true });
    const disposed = kept.pop();
    disposed.dispose();
    ebb.trace.off();
    ebb.audit();
    return { text, json, stale: await thrownBy(() => disposed.add(1)), kept: kept.length };
  },

  /** A hard budget, held and passed. */
  async strict(options) {
    await begin(options);
    ebb.budget('20MB', { strict: true });
    const kept = [];
    const error = await thrownBy(() => {
      for (let i = 0; i < 20; i++) kept.push(tf.fill([512, 1024], i));
    });
    const count = kept.length;
    kept.length = 0;
    ebb.collect();
    const again = tf.sum(tf.fill([512, 1024], 2));
    return {
      error,
      count,
      sum: (await again.data())[0],
      wrong: await thrownBy(() => ebb.budget('much')),
    };
  },

  /** Variables that nobody holds, `using`, and a page that is left alone. */
  async quiet(options) {
    await begin(options);
    const start = ebb.memory().live;
    (function () {
      for (let i = 0; i < 50; i++) tf.variable(tf.ones([64, 64]), true, `weight${i}`);
      for (let i = 0; i < 50; i++) tf.ones([64, 64]);
    })();
    const most = ebb.memory().live;
    for (let i = 0; i < 300 && ebb.memory().live > start; i++) await later(100);
    const tensor = tf.scalar(1);
    tensor[Symbol.dispose]?.();
    return {
      most: most - start,
      left: ebb.memory().live - start,
      variables: Object.keys(tf.engine().state.registeredVariables).length,
      disposable: tensor.isDisposed,
      hasSymbol: Symbol.dispose !== undefined,
    };
  },

  /** Many sizes, each tidied: what the backend keeps for reuse is trimmed to the budget, and to nothing when asked. */
  async sizes({ count = 60, ...options }) {
    await begin(options);
    let peak = 0;
    let wrong = 0;
    for (let i = 0; i < count; i++) {
      const columns = 1000 + i * 8;
      const sum = tf.tidy(() => tf.sum(tf.add(tf.fill([1000, columns], 1), 1)));
      const [got] = await sum.data();
      if (Math.abs(got / (2000 * columns) - 1) > 1e-5) wrong++; // WebGL 1 rounds
      sum.dispose();
      peak = Math.max(peak, allocated());
    }
    const kept = allocated();
    const trimmed = ebb.trim();
    const after = allocated();
    const [sum] = await tf.tidy(() => tf.sum(tf.fill([1000, 1000], 3))).data();
    return { peak, wrong, kept, trimmed, after, sum: Math.round(sum) };
  },

  /** The GPU goes away in the middle of things. */
  async lost({ backend, ...options }) {
    await begin({ backend, ...options });
    const before = tf.fill([10], 2);
    const unread = tf.add(before, 1); // what was read may have its values beside the GPU
    const [good] = await before.data();
    const { device, gpgpu } = tf.backend();
    if (device !== undefined) device.destroy();
    else loseContext(gpgpu.gl);
    await later(100);
    return {
      good,
      kernel: await thrownBy(async () => {
        for (let i = 0; i < 200; i++) tf.add(before, 1);
      }),
      read: await thrownBy(() => unread.data()),
      again: await beginAgain(backend).catch(({ message }) => message),
    };
  },

  /** The program destroys its device, and reads, moves and computes before anybody is told. */
  async destroyed({ backend, ...options }) {
    await begin({ backend, ...options });
    const [read, moved, used] = [1, 2, 3].map((more) => tf.add(tf.fill([10], 2), more));
    tf.backend().device.destroy();
    const errors = [thrownBy(() => read.dataSync()), thrownBy(() => tf.add(used, 1))];
    tf.setBackend('cpu');
    errors.push(thrownBy(() => tf.add(moved, 1).dataSync()));
    return { errors: await Promise.all(errors), again: await beginAgain(backend) };
  },

  /** Synchronous reads, which some browsers' GPUs do not survive. */
  async readInJob(options) {
    await begin(options);
    const reads = [];
    for (let i = 0; i < 3; i++) {
      const tensor = tf.add(tf.fill([10], i), 1);
      const error = await thrownBy(() => reads.push([i, ...tensor.dataSync()]));
      if (error !== undefined) return { reads, error };
    }
    return { reads };
  },

  /** Keeps everything, until the GPU has no more. */
  async hoard({ most, ...options }) {
    await begin(options);
    const kept = [];
    let wrong = 0;
    const error = await thrownBy(async () => {
      for (let i = 0; i < most; i++) {
        const next = tf.add(tf.fill([1024, 1024], i % 5), 1);
        kept.push(next);
        if (i % 10 !== 9) continue;
        const [got] = await tf.mean(next).data();
        if (Math.abs(got - ((i % 5) + 1)) > 1e-3) wrong++;
      }
    });
    return { error, wrong, count: kept.length };
  },

  /**
   * In Node the GPU made of software shares the process's memory: the limit is there while one large tensor is made, so
   * that nothing but the GPU meets it.
   */
  async starved({ rows, limit, ...options }) {
    await begin(options);
    const small = tf.add(tf.ones([1000]), 1);
    const [good] = await small.data();
    const unlimited = globalThis.limitOwnData(limit);
    const made = await thrownBy(() => tf.add(tf.fill([rows, 1024], 2), 1));
    unlimited();
    await later(100);
    return {
      good,
      made,
      read: await thrownBy(() => small.data()),
      kernel: await thrownBy(() => tf.add(small, 1)),
    };
  },

  /** Full collections, each with something to find. */
  async canaries({ turns, ...options }) {
    await begin(options);
    for (let i = 0; i < turns; i++) {
      for (let j = 0; j < 20; j++) tf.ones([100]);
      await later(20);
      ebb.collect();
    }
    await later(20);
    ebb.collect();
    return { ...ebb.pressure(), live: ebb.memory().live };
  },

  /** Reclaim off again: nothing comes back by itself, and the books go on. */
  async switched(options) {
    await begin(options);
    ebb.reclaim.off();
    for (let i = 0; i < 20; i++) tf.ones([100]);
    ebb.collect();
    const off = ebb.memory().live;
    ebb.reclaim.on();
    await later(50);
    ebb.collect();
    ebb.audit();
    return { off, on: ebb.memory().live, isOn: ebb.reclaim.isOn };
  },
});

/** Runs a program by name; errors cross as text. */
async function runProgram({ name, options }) {
  try {
    return { result: await programs[name](options) };
  } catch (error) {
    return { error: `${error.code ?? ''} ${error.message}\n${error.stack}` };
  }
}
globalThis.runProgram = runProgram;
Object.assign(globalThis, {
  programs,
  fillHeap,
  MB,
  beginProgram: begin,
  allocatedBytes: allocated,
});
