// tfjs-core's own specs ask for some errors word by word; elsewhere they begin with the kernel's name.
import type { Kernel } from './recipe';

type Wording = readonly [RegExp, string];

const TFJS_WORDS: readonly Wording[] = [
  [/^\[RaggedGather\] splits \d+ are \[0\].*/, 'Ragged splits may not be empty'],
  [/^\[RaggedGather\] (Ragged splits must not point past values).*/, '$1'],
  [/^\[RaggedGather\] .*(params\.rank must be nonzero).*/, '$1'],
  [/^\[RaggedRange\] input 0 is .*/, 'starts must be a scalar or vector'],
  [/^\[RaggedRange\] input 1 is .*/, 'limits must be a scalar or vector'],
  [/^\[RaggedRange\] input 2 is .*/, 'deltas must be a scalar or vector'],
  [/^\[RaggedRange\] (starts, limits, and deltas must have the same shape).*/, '$1'],
  [/^\[GatherV2\] (?=the index value)/, 'GatherV2: '],
  [/^\[(Ragged|Sparse)\w+\] /, ''],
];

export function inTfjsWords(kernel: Kernel): Kernel {
  return (params) => {
    try {
      return kernel(params);
    } catch (error) {
      if (error instanceof Error) {
        const found = TFJS_WORDS.find(([pattern]) => pattern.test(error.message));
        if (found !== undefined) error.message = error.message.replace(...found);
      }
      throw error;
    }
  };
}
