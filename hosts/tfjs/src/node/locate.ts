import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Where a program that uses Ebb would find TensorFlow.js. */
export function findTfjs(): string | undefined {
  for (const base of [join(process.cwd(), 'index.js'), process.argv[1], __filename]) {
    if (base === undefined) continue;
    try {
      return createRequire(base).resolve('@tensorflow/tfjs-core');
    } catch {
      // not from there
    }
  }
  return undefined;
}
