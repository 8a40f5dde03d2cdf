import type { Kernel } from '../kernel';
import { inTfjsWords } from '../wording';
import { creation } from './creation';
import { einsum } from './einsum';
import { elementwise } from './elementwise';
import { learning } from './learning';
import { movement } from './movement';
import { reductions } from './reductions';
import { sparse } from './sparse';
import { orText, TAKE_TEXT, text } from './text';
import { views } from './views';
import { windows } from './windows';

/** Every kernel of TensorFlow.js, by name, and Ebb's own. */
export const KERNELS: Record<string, Kernel> = {
  ...elementwise,
  ...views,
  ...creation,
  ...movement,
  ...reductions,
  ...windows,
  ...learning,
  ...sparse,
  ...text,
  Einsum: einsum,
};
for (const name of ['GatherV2', ...Object.keys(sparse)]) {
  KERNELS[name] = inTfjsWords(KERNELS[name] as Kernel);
}
for (const name of TAKE_TEXT) KERNELS[name] = orText(name, KERNELS[name] as Kernel);
