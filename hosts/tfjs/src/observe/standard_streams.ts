// Programs that close their standard streams.
import { closeSync, openSync } from 'node:fs';

const LAST = 2;

/**
 * Where 0, 1 or 2 is closed, the next pipe gets that number, and Node aborts when it closes it again. So nothing is
 * spawned before they are open: to nowhere, if the program closed them.
 */
export function holdStandardStreams(): void {
  for (;;) {
    const file = openSync('/dev/null', 'r+');
    if (file <= LAST) continue;
    closeSync(file);
    return;
  }
}
