// One run of the specs, in Node or in a page: which of them run, what is collected when, and what comes of each.
/** For one spec: on a GPU made of software shaders are compiled and run on a processor that others use too. */
const TIMEOUT_MS = 240_000;
const SEED = 4221;
const MINOR_SHARE = 0.05;
const MAJOR_SHARE = 0.003;

function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Whether a spec is one of a share of them: by its name, so that every run with the same seed has the same ones. */
function drawn(name, seed, share) {
  let hash = seed;
  for (let i = 0; i < name.length; i++) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0;
  return random(hash)() < share;
}

const FOR_CPU_ALONE = /^Switching cpu backends /;
function isOfBackend(name, backend) {
  return backend === 'cpu' || !/ cpu \{\}/.test(name) || FOR_CPU_ALONE.test(name);
}

/** Without what TensorFlow.js checks in tests only, so that kernels go the way that they go in a program (engine/direct.ts). */
function asInAProgram({ ENV }) {
  const { set } = ENV;
  ENV.set = (flag, value) => set.call(ENV, flag, flag === 'IS_TEST' ? false : value);
}

class Session {
  #made = [];
  #collections = 0;
  #classes = {};

  /**
   * `mode`: off, on, usual, forced (run.mjs); `ebb` unless off; `share`: of the specs, drawn by `seed`; `only`: what
   * their names contain.
   */
  constructor({ backend, mode, ebb, seed = SEED, share = 1, only = '' }) {
    Object.assign(this, { backend, mode, ebb, seed, share, only });
  }

  /** Before any spec. */
  begin(engine) {
    const { backend, mode, ebb } = this;
    if (mode !== 'off') {
      ebb.reclaim.on();
      if (mode === 'on') this.#holdWhileSpecRuns(engine);
      else asInAProgram(engine);
      if (mode === 'forced') this.#collectAtRandom(engine);
    }
    const { setBackend } = engine;
    engine.setBackend = async (name) => {
      const done = await setBackend.call(engine, name);
      if (name === backend) {
        const running = engine.backendInstance?.constructor.name;
        this.#classes[running] = (this.#classes[running] ?? 0) + 1;
      }
      return done;
    };
  }

  configure(env) {
    const { backend, seed, share, only } = this;
    const specFilter = (spec) => {
      const name = spec.getFullName();
      const wanted = name.includes(only) && (share >= 1 || drawn(name, seed, share));
      return wanted && isOfBackend(name, backend);
    };
    env.configure({ random: false, specFilter });
  }

  /** Runs them; gives what run.mjs looks at. */
  async run(env) {
    const { backend, mode, ebb } = this;
    const specs = {};
    let duplicates = 0;
    let overall;
    env.addReporter({
      specStarted: () => {
        this.#made.length = 0;
        if (mode === 'on') ebb.collect('minor');
      },
      specDone({ fullName, status, failedExpectations }) {
        if (status === 'excluded') return;
        const name = fullName in specs ? `${fullName} #${++duplicates}` : fullName;
        specs[name] = { status, why: failedExpectations.map(({ message }) => message) };
      },
      jasmineDone: (result) => (overall = result),
    });
    const { log, warn } = console;
    console.log = console.warn = () => {};
    try {
      await env.execute();
    } finally {
      Object.assign(console, { log, warn });
    }
    const books = ebb?.memory();
    ebb?.audit();
    const { overallStatus, failedExpectations } = overall;
    return {
      backend,
      mode,
      classes: this.#classes,
      collections: this.#collections,
      books,
      overallStatus,
      failedExpectations,
      specs,
    };
  }

  /** Collects before kernels drawn by lot: a wrong free shows in the values. */
  #collectAtRandom(engine) {
    const { runKernelFunc } = engine;
    const next = random(this.seed);
    engine.runKernelFunc = (call) => {
      const lot = next();
      if (lot < MAJOR_SHARE) this.ebb.collect('major');
      else if (lot < MINOR_SHARE) this.ebb.collect('minor');
      if (lot < MINOR_SHARE) this.#collections++;
      return runKernelFunc(call);
    };
  }

  /** What the spec that runs has made is held until it ends, so that no collection can change what it counts. */
  #holdWhileSpecRuns(engine) {
    const { trackTensor } = engine;
    engine.trackTensor = (tensor, backend) => {
      this.#made.push(tensor);
      trackTensor(tensor, backend);
    };
  }
}

/** jasmine, as specs on GPUs see it: one of them sets a time of its own that is too short for software. */
function patient(jasmine) {
  const setAtLeast = (ms) => {
    jasmine.DEFAULT_TIMEOUT_INTERVAL = Math.max(ms, TIMEOUT_MS);
  };
  setAtLeast(TIMEOUT_MS);
  const get = () => jasmine.DEFAULT_TIMEOUT_INTERVAL;
  return Object.create(jasmine, { DEFAULT_TIMEOUT_INTERVAL: { get, set: setAtLeast } });
}

module.exports = { Session, patient };
