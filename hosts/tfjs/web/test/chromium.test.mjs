// The half of the matrix that `make test` has time for; soak.mjs runs all of it.
import { launchChromium } from './browsers.mjs';
import { cell, testMatrix, WAITS } from './matrix.mjs';

const cells = ['webgl', 'webgpu'].flatMap((backend) => [
  ...WAITS.map((wait) => cell(backend, 'page', wait, 0)),
  cell(backend, 'page', 'timeout', 100),
  cell(backend, 'worker', 'timeout', 0),
  cell(backend, 'worker', 'never', 100),
]);

testMatrix('Chromium', launchChromium, cells);
