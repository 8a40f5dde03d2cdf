// WebGPU for Node: `navigator.gpu` by Dawn, as a browser would have it. Before TensorFlow.js, which looks for it once.
import { createRequire } from 'node:module';

/** Where there is no GPU: SwiftShader, as Debian's chromium brings it along. */
export const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';

export async function provideWebGpu() {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  // Node 20 has no navigator.
  if (globalThis.navigator === undefined)
    Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
  Object.defineProperty(globalThis.navigator, 'gpu', { value: create([]), configurable: true });
}

/** TensorFlow.js with backend webgpu. */
export async function withWebGpu() {
  await provideWebGpu();
  const require = createRequire(import.meta.url);
  const tf = require('@tensorflow/tfjs');
  require('@tensorflow/tfjs-backend-webgpu');
  return tf;
}
