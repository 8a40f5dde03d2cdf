// What the test pages load as `tf`: TensorFlow.js with all that a page may run it on.
export * from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-webgl';
import '@tensorflow/tfjs-backend-webgpu';
