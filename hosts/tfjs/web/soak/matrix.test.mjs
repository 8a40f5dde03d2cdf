// All of the matrix, in `make soak`.
import { launchChromium, launchFirefox } from '../test/browsers.mjs';
import { allCells, testMatrix } from '../test/matrix.mjs';

testMatrix('Chromium', launchChromium, allCells('webgl', 'webgpu'));
testMatrix('Firefox', launchFirefox, allCells('webgpu'));
