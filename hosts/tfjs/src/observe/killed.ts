// A program that was killed, or ran out of memory, has said nothing: its recording is there up to a tenth of a second
// before.
import { statSync } from 'node:fs';
import { findTool, readReportSync, writePage } from './tool';
import { textOf, verdict } from './verdict';

/** Says what the recording since `begun` shows, unless the program did before `cause` ended it. */
export function sayOfKilled(file: string, begun: number, cause: string): void {
  const tool = findTool();
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (tool === undefined || changed < begun) return;
  try {
    const report = readReportSync(tool, file);
    if (report.ended && report.program_ended) return;
    const notLooked = 'those that were found while it ran';
    const heldBy = new Map(report.places.map((place) => [textOf(place), place.holder]));
    const notes = [
      `it was ended by ${cause}`,
      `recording: ${file}    npx ebb report ${file}`,
      ...writePage(tool, file),
    ];
    process.stderr.write(verdict({ report, heldBy, notLooked, notes }));
  } catch (error) {
    process.stderr.write(`ebb: ${(error as Error).message}\n`);
  }
}
