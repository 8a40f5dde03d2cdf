// `node --import ebb-tfjs/auto app.js`: reclaim from the start, settings from the environment.
import { applyEnvironment } from './node/settings';

applyEnvironment();
