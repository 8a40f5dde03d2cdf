// Creation sites, for reports: on for a run, or while it runs.
import { hooks, sites } from '../engine/hooks';
import { onEngine } from '../engine/tfjs';
import { badArgument, checkOptions } from '../errors';
import { host } from '../host';

export interface TraceOptions {
  /** Frames of the user's code that make a site: 1 is the line that called TensorFlow.js. Default: 1. */
  frames?: number;
}

const MOST_FRAMES = 10;

const SAMPLED = 2;
const FULL = 3;
let switched = false;

/** A sampled recording takes each place for many; while all tensors have theirs it is a full one. */
function switchRecording(from: number, to: number): void {
  if (host().recordRead?.()[0] !== from) return;
  host().recordMode?.(to);
  switched = to === FULL;
}

export const trace = {
  /** From now on each tensor is booked with the place in the user's code that made it. */
  on(options: TraceOptions = {}): void {
    checkOptions('trace.on', options, 'frames');
    const { frames = 1 } = options;
    if (!Number.isInteger(frames) || frames < 1 || frames > MOST_FRAMES)
      throw badArgument('trace.on: frames', frames, `a whole number from 1 to ${MOST_FRAMES}`);
    host().setTrace(true);
    sites().frames = frames;
    sites().on = true;
    switchRecording(SAMPLED, FULL);
    onEngine(hooks); // what nobody books cannot be reported
  },

  off(): void {
    host().setTrace(false);
    sites().on = false;
    if (switched) switchRecording(FULL, SAMPLED);
  },

  get isOn(): boolean {
    return sites().on;
  },
};
