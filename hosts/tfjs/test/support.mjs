// What every test needs: TensorFlow.js with each backend, Ebb, and the law after each test.
import { afterEach, describe } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { collecting, sleep } from './collecting.mjs';

export const require = createRequire(import.meta.url);
/** A folder in whose node_modules the real tfjs-node is; it stops at Node 22. */
export const TFJS_NODE = process.env.EBB_TFJS_NODE;
export const tfjsNodeRuns =
  TFJS_NODE !== undefined && Number(process.versions.node.split('.')[0]) < 23;

const own = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm');
require('ebb-tfjs/backend');
/** The copy that came last: Ebb sees its cache of sorted models, and those of copies that come after Ebb. */
export const tf = tfjsNodeRuns
  ? createRequire(join(TFJS_NODE, 'index.js'))('@tensorflow/tfjs-node')
  : own;
export const ebb = require('ebb-tfjs');
tf.enableProdMode();

const ALL = `cpu,wasm,ebb${tfjsNodeRuns ? ',tensorflow' : ''}`;
export const BACKENDS = (process.env.EBB_TEST_BACKENDS ?? ALL).split(',');

const CLASSES = {
  cpu: 'MathBackendCPU',
  wasm: 'BackendWasm',
  ebb: 'EbbBackend',
  tensorflow: 'NodeJSKernelBackend',
};

/** Makes a backend current, and makes sure that it is the one: a broken one falls back silently. */
export async function use(backend) {
  assert.equal(await tf.setBackend(backend), true, `backend ${backend} did not start`);
  assert.equal(tf.backend().constructor.name, CLASSES[backend]);
}

/** The law, and that TensorFlow.js and Ebb count the same. */
export function assertBooks() {
  ebb.audit();
  const { created, live } = ebb.memory();
  if (created === 0) return;
  // As tf.memory() has it, which would be another safe point: what dies in between would come back there.
  const { numTensors, numDataBuffers } = tf.engine().state;
  // On Ebb's own backend a piece of data has one handle, however many tensors look at it.
  const counted = tf.getBackend() === 'ebb' ? numDataBuffers : numTensors;
  assert.equal(live, counted, "Ebb's books and TensorFlow.js disagree");
}

export function onEachBackend(title, body) {
  for (const backend of BACKENDS) {
    describe(`${title} on ${backend}`, () => {
      afterEach(() => assertBooks());
      body(backend);
    });
  }
}

export { sleep };
export const collected = collecting(tf, ebb);
