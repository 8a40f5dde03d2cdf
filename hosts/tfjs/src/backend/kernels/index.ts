import type { Kernel } from '../recipe';
import { inTfjsWords } from '../wording';
import { convolutions } from './convolutions';
import { creation } from './creation';
import { dilation } from './dilation';
import { einsum } from './einsum';
import { elementwise } from './elementwise';
import { images } from './images';
import { indexing } from './indexing';
import { movement } from './movement';
import { normalisation } from './normalisation';
import { optimizers } from './optimizers';
import { pooling } from './pooling';
import { products } from './products';
import { ragged } from './ragged';
import { reductions } from './reductions';
import { signal } from './signal';
import { sorting } from './sorting';
import { sparse } from './sparse';
import { suppression } from './suppression';
import { orText, TAKE_TEXT, text } from './text';
import { views } from './views';

/** Every kernel of TensorFlow.js, by name, and Ebb's own. */
export const KERNELS: Record<string, Kernel> = {
  ...elementwise,
  ...creation,
  ...views,
  ...movement,
  ...indexing,
  ...reductions,
  ...sorting,
  ...images,
  ...suppression,
  ...signal,
  ...sparse,
  ...ragged,
  ...products,
  ...convolutions,
  ...dilation,
  ...pooling,
  ...normalisation,
  ...optimizers,
  ...text,
  Einsum: einsum,
};
for (const name of ['GatherV2', ...Object.keys(sparse), ...Object.keys(ragged)]) {
  KERNELS[name] = inTfjsWords(KERNELS[name] as Kernel);
}
for (const name of TAKE_TEXT) KERNELS[name] = orText(name, KERNELS[name] as Kernel);
