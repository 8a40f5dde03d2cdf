// Runs the bundled specs in this process: child.cjs <bundle> <backend> <off|on|usual|forced> <result.json>
const { writeFileSync } = require('node:fs');
const { dirname } = require('node:path');
const jasmineCore = require('jasmine-core');
const { Session, patient } = require('./session.cjs');

const [bundle, backend, mode, output] = process.argv.slice(2);
const { EBB_SPECS_SEED: seed, EBB_SPECS_SHARE: share, EBB_SPECS_ONLY: only } = process.env;

const session = new Session({
  backend,
  mode,
  ebb: mode === 'off' ? undefined : require('..'),
  seed: seed === undefined ? undefined : Number(seed),
  share: share === undefined ? undefined : Number(share),
  only,
});
globalThis.ebbSpecs = {
  backend,
  wasmFolder: `${dirname(require.resolve('@tensorflow/tfjs-backend-wasm'))}/`,
  begin(tf) {
    if (backend === 'ebb') require('../dist/backend/register').register();
    if (backend === 'ebb-cuda') require('../dist/backend/cuda').registerCuda();
    session.begin(tf.engine());
  },
};

async function run() {
  if (backend === 'webgpu') await (await import('../gpu/dawn.mjs')).provideWebGpu();
  const jasmine = jasmineCore.boot(true);
  globalThis.jasmine = backend === 'webgpu' ? patient(jasmine) : jasmine;
  const env = jasmine.getEnv();
  session.configure(env);
  require(bundle);
  const result = await session.run(env);
  const tape = backend.startsWith('ebb') ? require('../dist/api/tape.js').tape.info() : undefined;
  writeFileSync(output, JSON.stringify({ ...result, tape }));
}

run().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
