// First module of the bundle for GPUs, in Node and in pages: the backends, their test environments, and Ebb if asked for.
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import * as tf from '@tensorflow/tfjs-core';
import { setTestEnvs } from '@tensorflow/tfjs-core/dist/jasmine_util';
import '@tensorflow/tfjs-backend-cpu';
import '@tensorflow/tfjs-backend-webgl';
import '@tensorflow/tfjs-backend-webgpu';

const { backend, begin } = globalThis.ebbSpecs;
// As the backends' own tests have them: nothing is left to the CPU.
const FLAGS = {
  webgl: { WEBGL_VERSION: 2, WEBGL_CPU_FORWARD: false, WEBGL_SIZE_UPLOAD_UNIFORM: 0 },
  webgpu: { WEBGPU_CPU_FORWARD: false },
};
// webgpu reads synchronously by way of a canvas, which Node has not, and which ends the process of Chromium's GPU made of
// software: after some of them there is no webgpu any more, and every spec fails, with Ebb and without.
const isDataSync = backend !== 'webgpu';
setTestEnvs([
  { name: backend, backendName: backend, flags: FLAGS[backend], isDataSync },
  { name: 'cpu', backendName: 'cpu', isDataSync: true },
]);
begin(tf);
