// Marks by which the tool tells the program's own time from what Ebb takes of it (docs/recording.md).
import { host } from '../host';

/** Ebb holds the program up, to look at its heap. */
export const STANDS_STILL = 'the program stands still';
export const GOES_ON = 'the program goes on';
/** What comes after it is not the program's. */
export const PROGRAM_ENDS = 'the program ends';

/** Where there is a recording. */
export function markIfRecorded(text: string): void {
  try {
    host().recordMark?.(text);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EBB_WRONG_STATE') throw error;
  }
}
