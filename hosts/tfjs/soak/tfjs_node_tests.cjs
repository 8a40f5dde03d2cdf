// tfjs-node's own tests (dist/*_test.js of its npm package) with ebb-tfjs/backend in its place:
//
//   npm install --ignore-scripts @tensorflow/tfjs-node@4.22.0 tmp@0.2    in some folder
//   EBB_TFJS_NODE=<that folder> node soak/tfjs_node_tests.cjs [a checkout of TensorFlow.js]
//
// Those of its insides (the binding, the kernel backend, int64, io_utils, canvas) have nothing here to test; pictures and
// SavedModels need files that the package leaves out and the checkout has. What comes of them: see docs/backend.md.
const { createRequire } = require('node:module');
const Module = require('node:module');
const { dirname, join } = require('node:path');
const jasmineCore = require('jasmine-core');

const folder = process.env.EBB_TFJS_NODE;
if (folder === undefined) {
  console.log('skipped: EBB_TFJS_NODE names no folder with tfjs-node in it');
  process.exit(0);
}
const dist = join(
  dirname(createRequire(join(folder, 'index.js')).resolve('@tensorflow/tfjs-node/package.json')),
  'dist',
);
const checkout = process.argv[2];
const FILES = [
  ...(checkout === undefined ? [] : ['image_test', 'saved_model_test']),
  'index_test',
  'tensorboard_test',
  'callbacks_test',
  'io/file_system_test',
  'io/node_http_test',
];

/** Specs that differ, by what they are called, and why they may. */
const INSIDES = 'looks into tfjs-node itself';
const WORDS = 'an error in its words';
const GROWTH = "resident memory within 1 MB, before the collector's heap has its size";
const MAY_DIFFER = [
  [/^packages merge versions/, INSIDES],
  [/no memory leak$/, INSIDES],
  [/^tensorBoard callback fit\(\): batch updateFreq, with initialEpoch/, INSIDES],
  [/^progbarLogger .*ver(bo|ob)se = [12]$/, INSIDES],
  [
    /^SavedModel (deserialize|get enum key|read non-exist|get input and output node names)/,
    INSIDES,
  ],
  [/^SavedModel load TFSavedModel( and delete)?$/, INSIDES],
  [/^SavedModel (load multiple signatures .* once|load signature after delete)/, INSIDES],
  [/^SavedModel execute multiple signatures from the same model/, INSIDES],
  [/throw error if backend is not tensorflow$/, INSIDES],
  [/^SavedModel load TFSavedModel with wrong (tags|signature)/, WORDS],
  [/^SavedModel (throw error when input tensors|execute model with wrong tensor name)/, WORDS],
  [/throw error if (request non int32 dtype|decode invalid image type)$/, WORDS],
  [/decode jpeg node bindings do not leak$/, GROWTH],
  [/empty logdir leads to error/, WORDS],
  [/Invalid (updateFreq|histogramFreq) value causes error/, WORDS],
  [/save fails if path exists as a file/, WORDS],
  [/loading from (nonexistent model\.json|missing weights) path fails/, WORDS],
];

const ours = require('../dist/backend');
// tfjs-node's count of tensors in TensorFlow.
Object.assign(ours.backend(), { getNumOfTFTensors: () => ours.backend().numDataIds() });
const tfjs = require.resolve('@tensorflow/tfjs');
const IMAGE = {
  ImageType: { JPEG: 'jpeg', PNG: 'png' },
  getImageType: ([first]) => ({ 0xff: 'jpeg', 0x89: 'png' })[first],
};
const load = Module._load;
Module._load = function (name, parent, ...rest) {
  if (parent?.filename?.startsWith(dist)) {
    if (name === './index' || name === '../index') return ours;
    if (['./tensorboard', './saved_model'].includes(name)) return ours.node;
    if (name === './image') return { ...ours.node, ...IMAGE };
    if (name === './nodejs_kernel_backend')
      return { NodeJSKernelBackend: ours.backend().constructor, nodeBackend: ours.backend };
    if (name.endsWith('/jasmine_util'))
      // has modules that Node cannot load
      return { describeWithFlags: (what, _, specs) => globalThis.describe(what, specs) };
    if (name.startsWith('@tensorflow/tfjs'))
      return name === '@tensorflow/tfjs'
        ? ours
        : load.call(this, require.resolve(name, { paths: [dirname(tfjs)] }), parent, ...rest);
  }
  return load.call(this, name, parent, ...rest);
};

if (checkout !== undefined) process.chdir(join(checkout, 'tfjs-node')); // where the tests expect to be
const jasmine = jasmineCore.boot(true);
Object.assign(globalThis, { jasmine });
const env = jasmine.getEnv();
env.configure({ random: false });
for (const file of FILES) require(join(dist, `${file}.js`));

const counts = { passed: 0, failed: 0, [INSIDES]: 0, [WORDS]: 0, [GROWTH]: 0 };
env.addReporter({
  specDone({ fullName, status, failedExpectations }) {
    const known = MAY_DIFFER.find(([pattern]) => pattern.test(fullName));
    if (status === 'failed' && known !== undefined) {
      counts[known[1]]++;
      return;
    }
    counts[status] = (counts[status] ?? 0) + 1;
    if (status === 'failed')
      console.log(`FAULT ${fullName}\n    ${failedExpectations[0]?.message.split('\n')[0]}`);
  },
});
const { log } = console;
env.execute().finally(() => {
  const differ = [INSIDES, WORDS, GROWTH].map((why) => `${counts[why]} differ (${why})`).join(', ');
  log(`tfjs-node's tests: ${counts.passed} passed, ${counts.failed} failed, ${differ}`);
  process.exit(counts.failed === 0 ? 0 : 1);
});
