import { type Kernel, op } from '../recipe';

export const signal: Record<string, Kernel> = {
  FFT: op('FFT'),
  IFFT: op('IFFT'),
};
