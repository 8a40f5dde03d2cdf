/**
 * TensorFlow.js on Ebb's own runtime, in place of `@tensorflow/tfjs-node`:
 *
 * ```js
 * const tf = require('ebb-tfjs/backend');
 * ```
 */
import * as tf from '@tensorflow/tfjs';
import { EbbError } from '../errors';
import { fileSystem, registerFileSystem } from '../files';
import { native } from '../native';
import { EbbBackend } from './backend';
import { chosenBackend, registerCuda } from './cuda';
import { register } from './register';

register();
registerCuda();
void tf.setBackend(chosenBackend());
// TensorFlow.js falls back to another backend without a word where one cannot be made.
if (!(tf.engine().backend instanceof EbbBackend)) {
  throw new EbbError('EBB_UNSUPPORTED', '[ebb-tfjs/backend] The backend could not be made.');
}
registerFileSystem(tf.io);

export * from '@tensorflow/tfjs';
export * as node from './node';
export const io = { ...tf.io, fileSystem };
export const version = { ...tf.version, 'ebb-tfjs': native().version() };
