// What a page does that nobody would recommend. Loaded after programs.js; each gives what the test looks at.

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a call throws: its code, or its name where it is not Ebb's. */
async function codeOf(call) {
  try {
    await call();
  } catch (error) {
    return error?.code ?? error?.name ?? String(error);
  }
  return 'nothing';
}

/** Another copy of ebb.js, as a second <script> would be. */
async function anotherCopy() {
  const text = await (await fetch('/ebb/ebb.js')).text();
  return new Function(`${text}; return ebb;`)();
}

/** The least module there is, and one with an export of the core's that is no function of it. */
const EMPTY_MODULE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
const FORGED_MODULE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 10, 1, 6, 108, 97, 121, 111,
  117, 116, 0, 0, 10, 6, 1, 4, 0, 65, 1, 11,
]);

async function sumOfLoop(rounds) {
  let sum = tf.scalar(0);
  for (let i = 0; i < rounds; i++) {
    sum = tf.add(sum, tf.mean(tf.fill([512, 512], i % 5)));
    if (i % 10 === 9) await wait(0);
  }
  return (await sum.data())[0];
}
const expectedSum = (rounds) =>
  Array.from({ length: rounds }, (_, i) => i % 5).reduce((a, b) => a + b);

Object.assign(globalThis.programs, {
  /** Everything but the core, then the core, while tensors live. */
  async wrongCores({ backend }) {
    await tf.setBackend(backend);
    const before = [tf.ones([10]), tf.ones([20])];
    const codes = {};
    const attempts = {
      number: 5,
      object: {},
      noBytes: new Uint8Array(),
      text: new TextEncoder().encode('<!doctype html>'),
      emptyModule: EMPTY_MODULE,
      compiledEmpty: await WebAssembly.compile(EMPTY_MODULE),
      forged: FORGED_MODULE,
      html: '/page.html',
      missing: '/nowhere.wasm',
      noServer: 'http://127.0.0.1:1/ebb_core.wasm',
    };
    for (const [name, source] of Object.entries(attempts))
      codes[name] = await codeOf(() => ebb.load(source));
    const early = await codeOf(() => ebb.reclaim.on());
    const bytes = await (await fetch('/ebb/ebb_core.wasm')).arrayBuffer();
    await Promise.all([ebb.load(bytes), ebb.load(bytes), ebb.load()]);
    ebb.reclaim.on();
    const sum = await sumOfLoop(30);
    ebb.audit();
    const [value] = await before[1].data();
    return { codes, early, sum, value, held: before.length, live: ebb.memory().live };
  },

  /** Two copies of ebb.js: they share the books, whoever loads. */
  async twoCopies(options) {
    await globalThis.beginProgram(options);
    const other = await anotherCopy();
    const unloaded = await codeOf(() => other.reclaim.on());
    await other.load();
    const isOn = other.reclaim.isOn;
    const inBoth = ebb.tidy(() => other.tidy(() => tf.sum(tf.ones([100]))));
    const sum = await sumOfLoop(30);
    await wait(20);
    other.collect();
    other.audit();
    const same = JSON.stringify(ebb.memory()) === JSON.stringify(other.memory());
    other.reclaim.off();
    return { unloaded, isOn, sum, same, inBoth: (await inBoth.data())[0], off: ebb.reclaim.isOn };
  },

  /** Off and on again in the middle of a kernel, a gradient, a tidy and a read. */
  async switchedInside(options) {
    await globalThis.beginProgram(options);
    let switches = 0;
    const flip = () => (switches++ % 2 === 0 ? ebb.reclaim.off() : ebb.reclaim.on());
    const { backend } = options;
    tf.registerKernel({
      kernelName: 'EbbTestFlip',
      backendName: backend,
      kernelFunc: ({ inputs }) => {
        flip();
        ebb.collect();
        const out = tf.add(inputs.x, 1);
        flip();
        return out;
      },
    });
    const x = tf.ones([1000]);
    let wrong = 0;
    for (let i = 0; i < 20; i++) {
      const y = tf.engine().runKernel('EbbTestFlip', { x });
      const reading = y.data();
      flip();
      const gradient = tf.tidy(() => {
        flip();
        return tf.grad((v) => {
          flip();
          return tf.sum(tf.square(v));
        })(x);
      });
      flip();
      if ((await reading)[0] !== 2 || (await gradient.data())[0] !== 2) wrong++;
    }
    ebb.reclaim.on();
    await wait(20);
    ebb.collect();
    ebb.audit();
    return { wrong, switches, live: ebb.memory().live };
  },

  /** Tensors that live while backends come and go. `moving`: one of them is used by each, otherwise each has its own. */
  async backends({ order, moving, ...options }) {
    await globalThis.beginProgram(options);
    const kept = [];
    const base = {};
    const values = [];
    for (const backend of order) {
      await tf.setBackend(backend);
      for (let i = 0; i < 30; i++) tf.add(tf.fill([256, 256], i), 1);
      base[moving ? 'all' : backend] ??= tf.fill([100, 100], 3);
      kept.push(tf.add(base[moving ? 'all' : backend], kept.length));
      values.push(Math.round((await tf.mean(kept.at(-1)).data())[0]));
    }
    await wait(20);
    ebb.collect();
    ebb.audit();
    return { values, live: ebb.memory().live, kept: kept.length + Object.keys(base).length };
  },

  /** tf.engine().reset() with tensors, scopes and reads under way. */
  async resets({ backend, ...options }) {
    await globalThis.beginProgram({ backend, ...options });
    const codes = [];
    const sums = [];
    for (let i = 0; i < 4; i++) {
      const kept = [tf.ones([512, 512]), tf.variable(tf.ones([10]))];
      const reading = kept[0].data().catch(() => undefined);
      tf.engine().startScope('forgotten');
      tf.add(kept[0], 1);
      tf.engine().reset();
      codes.push(await codeOf(() => kept[0].dispose()));
      await Promise.race([reading, wait(200)]);
      await tf.setBackend(backend);
      sums.push(await sumOfLoop(20));
    }
    await wait(50);
    ebb.collect();
    ebb.audit();
    return { codes, sums, expected: expectedSum(20), live: ebb.memory().live };
  },

  /** What the device of before says is not about the one of now. */
  async lateNews({ backend, ...options }) {
    await globalThis.beginProgram({ backend, ...options });
    tf.add(tf.ones([10]), 1);
    const { device } = tf.backend();
    tf.engine().reset();
    await tf.setBackend(backend);
    const x = tf.ones([10]);
    const error = new GPUOutOfMemoryError('of before');
    device.dispatchEvent(new GPUUncapturedErrorEvent('uncapturederror', { error }));
    device.destroy();
    await wait(100);
    return { got: (await tf.add(x, 1).data())[0] };
  },

  /** How often webgl's errors are asked for, which waits for the GPU: once for what was read from it, by whomever. */
  async questions(options) {
    await globalThis.beginProgram({ ...options, backend: 'webgl' });
    const given = tf.tensor1d([1, 2, 3]);
    const computed = tf.add(tf.fill([2000], 2), 1);
    const byKernel = tf.add(tf.fill([2000], 3), 1);
    const { gl } = tf.backend().gpgpu;
    let asked = 0;
    const { getError } = gl;
    gl.getError = () => {
      asked++;
      return getError.call(gl);
    };
    const counts = {};
    const count = async (name, read) => {
      asked = 0;
      await read();
      counts[name] = asked;
    };
    await count('given', () => given.data());
    await count('computed', () => computed.data());
    await count('again', () => computed.data());
    await count('small', () => tf.add(given, 1).data()); // TensorFlow.js leaves it to the CPU
    tf.backend().readSync(byKernel.dataId);
    await count('byKernel', () => byKernel.data());
    return { counts };
  },

  /** A tensor that somebody has frozen, as stores of state do: TensorFlow.js frees it, then cannot say so. */
  async frozen(options) {
    await globalThis.beginProgram(options);
    const start = tf.memory().numTensors;
    const tensor = Object.freeze(tf.ones([10]));
    const code = await codeOf(() => tensor.dispose());
    return { code, left: tf.memory().numTensors - start };
  },

  /** Sizes that are none. */
  async budgets(options) {
    await globalThis.beginProgram(options);
    const codes = {};
    for (const size of [
      0,
      -1,
      NaN,
      Infinity,
      '',
      'much',
      '0',
      '-5MB',
      '1e99GB',
      null,
      {},
      [],
      true,
      1n,
    ])
      codes[`${typeof size} ${String(size)}`] = await codeOf(() => ebb.budget(size));
    codes.option = await codeOf(() => ebb.budget(5, { strickt: true }));
    codes.trim = await codeOf(() => ebb.trim(-1));
    codes.collect = await codeOf(() => ebb.collect('all'));
    const sums = [];
    for (const size of [1, 0.5 + 1e3, Number.MAX_SAFE_INTEGER, '512 MiB', '1kB']) {
      codes[`good ${size}`] = await codeOf(() => ebb.budget(size));
      sums.push(await sumOfLoop(20));
    }
    ebb.audit();
    return { codes, sums, expected: expectedSum(20) };
  },

  /** Functions of tidy that return, throw and wait in strange ways. */
  async tidies(options) {
    await globalThis.beginProgram(options);
    const start = tf.memory().numTensors;
    const thenable = (value) => ({ then: (done) => setTimeout(() => done(value()), 5) });
    const codes = {};
    const got = {};
    got.thenable = (
      await ebb.tidy((scope) => thenable(() => scope.run(() => tf.scalar(4))))
    ).dataSync()[0];
    codes.thrower = await codeOf(() =>
      ebb.tidy(() => ({
        then: () => {
          throw new TypeError('x');
        },
      })),
    );
    codes.undefinedThrown = await codeOf(() =>
      ebb.tidy(() => {
        tf.scalar(1);
        throw undefined;
      }),
    );
    codes.rejected = await codeOf(() =>
      ebb.tidy(async () => {
        tf.scalar(1);
        await wait(1);
        throw 7;
      }),
    );
    let held;
    ebb.tidy((scope) => {
      held = scope;
    });
    codes.scopeAfter = await codeOf(() => held.run(() => tf.scalar(1)));
    codes.notWork = await codeOf(() => ebb.tidy((scope) => scope.run(5)));
    codes.generator = await codeOf(() =>
      ebb.tidy(function* () {
        yield tf.scalar(1);
      }),
    );
    const never = ebb.tidy(async (scope) => {
      scope.run(() => tf.ones([10]));
      await new Promise(() => {});
    });
    got.pending = typeof never.then;
    // The inner outlives the outer.
    let inner;
    await ebb.tidy(async () => {
      inner = ebb.tidy(async (scope) => {
        await wait(20);
        return scope.run(() => tf.scalar(6));
      });
    });
    got.inner = (await inner).dataSync()[0];
    const cyclic = ebb.tidy(() => {
      const o = { t: tf.scalar(8) };
      o.self = o;
      return o;
    });
    got.cyclic = cyclic.t.dataSync()[0];
    // tf.tidy inside and around.
    got.mixed = tf.tidy(() => ebb.tidy(() => tf.tidy(() => tf.scalar(9).add(1)))).dataSync()[0];
    return { codes, got, left: tf.memory().numTensors - start };
  },

  /** A worker's own canvas, given to TensorFlow.js by hand. */
  async ownCanvas(options) {
    await globalThis.beginProgram({ ...options, backend: 'cpu' });
    const canvas = new OffscreenCanvas(8, 8);
    await tf.setBackend('webgl');
    const { constructor: Backend } = tf.backend();
    tf.registerBackend('own', () => new Backend(canvas));
    for (const kernel of tf.getKernelsForBackend('webgl'))
      tf.registerKernel({ ...kernel, backendName: 'own' });
    await tf.setBackend('own');
    const sum = await sumOfLoop(40);
    const lose = canvas.getContext('webgl2').getExtension('WEBGL_lose_context');
    const x = tf.ones([1000]);
    lose.loseContext();
    await wait(100);
    return { sum, expected: expectedSum(40), lost: await codeOf(() => x.data()) };
  },

  /** As a page goes on that came back from the browser's cache, or was only away. */
  async goesOn(options) {
    if (options !== undefined) await globalThis.beginProgram(options);
    const sum = await sumOfLoop(20);
    ebb.audit();
    return { sum, expected: expectedSum(20) };
  },

  /** Off or on again in each frame, with what the frame before dropped. */
  async everyFrame(options) {
    await globalThis.beginProgram(options);
    const start = ebb.memory().live;
    let sum = tf.scalar(0);
    for (let i = 0; i < 60; i++) {
      if (i % 2 === 0) ebb.reclaim.off();
      else ebb.reclaim.on();
      sum = tf.add(sum, tf.mean(tf.fill([512, 512], i % 5)));
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    const [got] = await sum.data();
    ebb.reclaim.on();
    await wait(20);
    ebb.collect();
    ebb.audit();
    return { sum: got, expected: expectedSum(60), left: ebb.memory().live - start };
  },

  /** An iframe with a TensorFlow.js and an Ebb of its own is removed while it loads, works, and is read from outside. */
  async iframes(options) {
    await globalThis.beginProgram(options);
    const outside = [];
    const until = async (ms, isReady) => {
      if (ms !== undefined) return wait(ms);
      while (!isReady()) await wait(20);
    };
    for (const ms of [0, 30, 300, undefined]) {
      const frame = document.createElement('iframe');
      frame.src = '/page.html';
      document.body.append(frame);
      const inside = frame.contentWindow;
      const works = () => inside.tf?.getBackend() === options.backend;
      await until(ms, () => inside.programs?.endless !== undefined);
      const running = inside.programs?.endless({ ...options, budget: 2 ** 26 });
      running?.catch(() => {});
      await until(ms, works);
      const tensor = works() ? inside.tf.ones([10]) : undefined;
      frame.remove();
      if (tensor !== undefined) {
        const read = Promise.race([tensor.data(), wait(200)]);
        outside.push(await codeOf(() => read), await codeOf(() => tensor.dispose()));
      }
    }
    const sum = await sumOfLoop(20);
    ebb.audit();
    return { sum, expected: expectedSum(20), outside };
  },

  /** Asked for before there is a TensorFlow.js, in a page that loads one later. */
  async beforeTensorFlow({ backend }) {
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const load = (src) =>
      new Promise((resolve, reject) => {
        const script = frame.contentDocument.createElement('script');
        Object.assign(script, { src, onload: resolve, onerror: reject });
        frame.contentDocument.body.append(script);
      });
    await load('/ebb/ebb.js');
    const inside = frame.contentWindow;
    await inside.ebb.load('/ebb/ebb_core.wasm');
    const early = await codeOf(() => inside.ebb.reclaim.on());
    const tidied = await codeOf(() => inside.ebb.tidy(() => 5));
    await load('/tf.js');
    await inside.tf.setBackend(backend);
    inside.ebb.reclaim.on();
    const start = inside.ebb.memory().live;
    for (let i = 0; i < 50; i++) inside.tf.ones([100]);
    await wait(20);
    inside.ebb.collect();
    return { early, tidied, isOn: inside.ebb.reclaim.isOn, left: inside.ebb.memory().live - start };
  },

  /** For ever; somebody ends it. */
  async endless(options) {
    await globalThis.beginProgram(options);
    for (;;) await sumOfLoop(50);
  },
});
