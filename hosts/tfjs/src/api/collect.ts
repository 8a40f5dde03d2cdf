import { hooksIfAny } from '../engine/hooks';
import { badArgument } from '../errors';

/** Collects now and gives back what is found dead: for tests, and before a pause. */
export function collect(kind: 'minor' | 'major' = 'major'): void {
  if (kind !== 'minor' && kind !== 'major')
    throw badArgument('collect', kind, "'minor' or 'major'");
  const installed = hooksIfAny();
  if (installed !== undefined && installed.calls.running === 0) {
    installed.books.collect(kind === 'major', false);
  }
}
