// Where the user's code is, for errors.
import { join } from 'node:path';

const OWN_FILES = join(__dirname, '..', '..');
const LIBRARY = /node:|[\\/]node_modules[\\/]@tensorflow[\\/]/;
const PLACE = /\(?([^()<>\s]+:\d+):\d+\)?$/;

/** More than Error gives by itself, or than a program has set. */
const MOST_LINES = 64;

/** Who called, line by line. */
export function deepStack(): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = MOST_LINES;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split('\n').slice(1);
}

/** ` at file:line` of the innermost function that is neither TensorFlow.js's nor Ebb's; empty where there is none. */
export function userLine(): string {
  for (const line of deepStack()) {
    if (line.includes(OWN_FILES) || LIBRARY.test(line)) continue;
    const place = PLACE.exec(line.trim())?.[1];
    if (place !== undefined) return ` at ${place.replace(/^file:\/\//, '')}`;
  }
  return '';
}
