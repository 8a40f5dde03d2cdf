// `tf.node`: what tfjs-node offers beside TensorFlow.js itself.
import { EbbError } from '../../errors';

export {
  decodeBmp,
  decodeGif,
  decodeImage,
  decodeJpeg,
  decodePng,
  encodeJpeg,
  encodePng,
} from './pixels';
export { summaryFileWriter, tensorBoard } from './summaries';

function missing(name: string, instead: string): never {
  throw new EbbError(
    'EBB_UNSUPPORTED',
    `[tf.node.${name}] ebb-tfjs does not read TensorFlow's SavedModels; ${instead}`,
  );
}

const CONVERT = 'convert it with tensorflowjs_converter and load it with tf.loadGraphModel.';

export const loadSavedModel = (): never => missing('loadSavedModel', CONVERT);
export const getMetaGraphsFromSavedModel = (): never =>
  missing('getMetaGraphsFromSavedModel', CONVERT);
export const getNumOfSavedModels = (): never => missing('getNumOfSavedModels', CONVERT);
