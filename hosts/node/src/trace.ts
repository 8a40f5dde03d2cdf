// Creation sites, for reports: on for a run, or while it runs.
import { sites } from './hooks';
import { native } from './native';

export const trace = {
  /** From now on each tensor is booked with the place in the user's code that made it. */
  on(): void {
    native().setTrace(true);
    sites().on = true;
  },

  off(): void {
    native().setTrace(false);
    sites().on = false;
  },

  get isOn(): boolean {
    return sites().on;
  },
};
