// What viewers of a running process wish (`ebb report PID --collect --why`): asked at the recorder's thread, done here.
import { hooksIfAny } from '../engine/hooks';
import { host } from '../host';
import { find } from './finding';
import { findTool } from './tool';

/** Of ebb_asked, as bits. */
const COLLECT = 1 << 1;
const HOLDERS = 1 << 2;

export function collectNow(): void {
  const installed = hooksIfAny();
  if (installed !== undefined && installed.calls.running === 0)
    installed.books.collect(true, false);
}

let looking = false;

export function answerViewers(file: string): void {
  const wished = host().liveAsked?.() ?? 0;
  if ((wished & COLLECT) !== 0) collectNow();
  const tool = (wished & HOLDERS) !== 0 && !looking ? findTool() : undefined;
  if (tool === undefined) return;
  looking = true;
  // What cannot be found is not in the recording: the viewer sees that.
  find(tool, file)
    .catch(() => {})
    .finally(() => (looking = false));
}
