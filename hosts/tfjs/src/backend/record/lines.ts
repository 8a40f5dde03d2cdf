// Where the user's code is, for errors.
import { join } from 'node:path';

const OWN_FILES = join(__dirname, '..', '..');
const LIBRARY = /node:|[\\/]node_modules[\\/]@tensorflow[\\/]/;
const PLACE = /\(?([^()<>\s]+:\d+):\d+\)?$/;

/** ` at file:line` of the innermost function that is neither TensorFlow.js's nor Ebb's; empty where there is none. */
export function userLine(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 64;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  for (const line of stack.split('\n').slice(1)) {
    if (line.includes(OWN_FILES) || LIBRARY.test(line)) continue;
    const place = PLACE.exec(line.trim())?.[1];
    if (place !== undefined) return ` at ${place.replace(/^file:\/\//, '')}`;
  }
  return '';
}
