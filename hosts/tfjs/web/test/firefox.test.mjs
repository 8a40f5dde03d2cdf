// Firefox has webgpu on lavapipe, and without a screen no webgl.
import { launchFirefox } from './browsers.mjs';
import { cell, testMatrix } from './matrix.mjs';

testMatrix('Firefox', launchFirefox, [
  cell('webgpu', 'page', 'timeout', 0),
  cell('webgpu', 'page', 'data', 100),
  cell('webgpu', 'page', 'never', 0),
  cell('webgpu', 'worker', 'timeout', 0),
]);
