// `tf.node`: what tfjs-node offers beside TensorFlow.js itself.
export {
  decodeBmp,
  decodeGif,
  decodeImage,
  decodeImageAsync,
  decodeJpeg,
  decodeJpegAsync,
  decodePng,
  decodePngAsync,
  encodeJpeg,
  encodePng,
} from './pixels';
export { getMetaGraphsFromSavedModel, getNumOfSavedModels, loadSavedModel } from '../saved_model';
export { summaryFileWriter, tensorBoard } from './summaries';
