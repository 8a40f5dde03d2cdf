import { badArgument } from './errors';
import { hooksIfAny } from './hooks';

/** Collects now and gives back what is found dead: for tests, and before a pause. */
export function collect(kind: 'minor' | 'major' = 'major'): void {
  if (kind !== 'minor' && kind !== 'major')
    throw badArgument('collect', kind, "'minor' or 'major'");
  const installed = hooksIfAny();
  if (installed !== undefined && installed.kernels.running === 0) {
    installed.books.collect(kind === 'major', false);
  }
}
