import '@tensorflow/tfjs-core/dist/tests.js';
