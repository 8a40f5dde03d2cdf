// WebGL for Node: headless-gl, in the place of a browser's canvas. It speaks WebGL 1 and needs an X server: xvfb-run.
import { createRequire } from 'node:module';

/** TensorFlow.js with backend webgl. */
export function withWebGl() {
  const require = createRequire(import.meta.url);
  const tf = require('@tensorflow/tfjs');
  const {
    GPGPUContext,
    MathBackendWebGL,
    setWebGLContext,
  } = require('@tensorflow/tfjs-backend-webgl');
  const gl = require('gl')(1, 1, { preserveDrawingBuffer: false });
  tf.env().set('WEBGL_VERSION', 1);
  setWebGLContext(1, gl);
  // TensorFlow.js registers it by itself in browsers only.
  tf.registerBackend('webgl', () => new MathBackendWebGL(new GPGPUContext(gl)));
  return tf;
}
