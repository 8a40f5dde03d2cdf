/**
 * TensorFlow.js on Ebb's own runtime, in place of `@tensorflow/tfjs-node`:
 *
 * ```js
 * const tf = require('ebb-tfjs/backend');
 * ```
 */
import * as tf from '@tensorflow/tfjs';
import { keepRecords } from '../engine/records';
import type { Engine } from '../engine/tfjs';
import { EbbError } from '../errors';
import { host } from '../host';
import { fileSystem, registerFileSystem } from '../node/files';
import { chosenGpu, CUDA_NAME, CudaBackend, registerCuda } from './cuda';
import { installRecorder } from './record';
import { NAME, register } from './register';
import { loadSafetensors } from './safetensors';
import { registerProgressBar } from './tf_node/progress';

host(); // or it throws that there is none here, before TensorFlow.js tries other backends
register();
registerCuda();
installRecorder(tf.engine());
const gpu = chosenGpu();
const wanted = gpu === undefined ? NAME : CUDA_NAME;
void tf.setBackend(wanted);
// TensorFlow.js falls back to another backend where one cannot be made. Making it once more says why.
if (tf.engine().backend !== tf.engine().findBackend(wanted)) {
  if (gpu !== undefined) new CudaBackend(gpu);
  throw new EbbError('EBB_UNSUPPORTED', '[ebb-tfjs/backend] The backend could not be made.');
}
keepRecords(tf.engine() as unknown as Engine);
registerFileSystem(tf.io);
registerProgressBar();

export * from '@tensorflow/tfjs';
export * as node from './tf_node';
/** Models over HTTP, as tfjs-node names it. */
const nodeHTTPRequest = (
  path: string,
  requestInit?: RequestInit,
  weightPathPrefix?: string,
): tf.io.IOHandler =>
  tf.io.browserHTTPRequest(path, {
    ...(requestInit && { requestInit }),
    ...(weightPathPrefix && { weightPathPrefix }),
  });
export const io = { ...tf.io, fileSystem, loadSafetensors, nodeHTTPRequest };
export const version = { ...tf.version, 'ebb-tfjs': host().version() };

// As plain values: what TypeScript makes of `export *` are getters that call getters, at every `tf.add` of a program.
module.exports = Object.defineProperty({ ...exports }, '__esModule', { value: true });
