// Runs the bundled specs in this process: child.cjs <bundle> <cpu|wasm|ebb> <off|on|usual|forced> <result.json>
const { writeFileSync } = require('node:fs');
const { dirname } = require('node:path');
const jasmineCore = require('jasmine-core');

const [bundle, backend, mode, output] = process.argv.slice(2);
const SEED = Number(process.env.EBB_SPECS_SEED ?? 4221);
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

let collections = 0;

/** Collects before kernels drawn by lot: a wrong free shows in the values. */
function collectAtRandom(engine, ebb) {
  const { runKernelFunc } = engine;
  const next = random(SEED);
  engine.runKernelFunc = (call) => {
    const drawn = next();
    if (drawn < MAJOR_SHARE) ebb.collect('major');
    else if (drawn < MINOR_SHARE) ebb.collect('minor');
    if (drawn < MINOR_SHARE) collections++;
    return runKernelFunc(call);
  };
}

/** What the spec that runs has made: held until it ends, so that no collection can change what it counts. */
const made = [];
function holdWhileSpecRuns(engine) {
  const { trackTensor } = engine;
  engine.trackTensor = (tensor, backend) => {
    made.push(tensor);
    trackTensor(tensor, backend);
  };
}

const classes = {};
let ebb;
globalThis.ebbSpecs = {
  backend,
  wasmFolder: `${dirname(require.resolve('@tensorflow/tfjs-backend-wasm'))}/`,
  begin(tf) {
    const engine = tf.engine();
    if (backend === 'ebb') require('../dist/backend/register').register();
    if (backend === 'ebb-cuda') require('../dist/backend/cuda').registerCuda();
    if (mode !== 'off') {
      ebb = require('..');
      ebb.reclaim.on();
      if (mode === 'on') holdWhileSpecRuns(engine);
      if (mode === 'forced') collectAtRandom(engine, ebb);
    }
    const { setBackend } = engine;
    engine.setBackend = async (name) => {
      const done = await setBackend.call(engine, name);
      if (name === backend) {
        const running = engine.backendInstance?.constructor.name;
        classes[running] = (classes[running] ?? 0) + 1;
      }
      return done;
    };
  },
};

const jasmine = jasmineCore.boot(true);
Object.assign(globalThis, { jasmine });
const env = jasmine.getEnv();
const FOR_CPU_ALONE = /^Switching cpu backends /;
const isOfBackend = (name) =>
  backend === 'cpu' || !/ cpu \{\}/.test(name) || FOR_CPU_ALONE.test(name);
env.configure({ random: false, specFilter: (spec) => isOfBackend(spec.getFullName()) });
require(bundle);

const specs = {};
let duplicates = 0;
env.addReporter({
  specStarted() {
    made.length = 0;
    if (mode === 'on') ebb.collect('minor');
  },
  specDone({ fullName, status, failedExpectations }) {
    if (status === 'excluded') return;
    const name = fullName in specs ? `${fullName} #${++duplicates}` : fullName;
    specs[name] = { status, why: failedExpectations.map(({ message }) => message) };
  },
  jasmineDone({ overallStatus, failedExpectations }) {
    const books = ebb && ebb.memory();
    ebb?.audit();
    writeFileSync(
      output,
      JSON.stringify({
        backend,
        mode,
        classes,
        collections,
        books,
        overallStatus,
        failedExpectations,
        specs,
      }),
    );
  },
});
const { log, warn, error } = console;
console.log = console.warn = () => {};
env.execute().finally(() => {
  Object.assign(console, { log, warn, error });
  process.exit(0);
});
