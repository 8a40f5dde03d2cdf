// The switch: global, off at first, at any time, both ways.
import { type Hooks, hooks, hooksIfAny } from '../engine/hooks';
import { currentEngine, onEngine } from '../engine/tfjs';
import { checkFlag, checkOptions, EbbError } from '../errors';
import { host, ofIsolate } from '../host';
import { registerFileHandlers } from '../node/files';
import { findTfjs } from '../node/locate';

export interface ReclaimOptions {
  /** False: variables stay registered for ever, as TensorFlow.js has it. Default: true. */
  variables?: boolean;
}

/** What the user wants of this isolate; undefined: nothing. */
const wish = (): { options: Required<ReclaimOptions> | undefined } =>
  ofIsolate('reclaim', () => ({ options: undefined }));
let waiting = false;

function begin(installed: Hooks): void {
  const { options } = wish();
  if (options === undefined) return;
  host().reclaim(true);
  installed.scopes.weak = true;
  installed.variables.setWeak(options.variables);
  installed.idle.arm();
  registerFileHandlers();
  installed.safePoint();
}

/** Switches on as soon as there is an engine; does not insist that there ever is one. */
export function onWhenReady(options: ReclaimOptions = {}): void {
  wish().options = { variables: options.variables ?? true };
  host().reclaim(true);
  const installed = hooks();
  if (installed !== undefined) begin(installed);
  else if (!waiting) {
    waiting = true;
    onEngine(() => begin(hooks() as Hooks));
  }
}

function check(options: ReclaimOptions): void {
  checkOptions('reclaim.on', options, 'variables');
  checkFlag('reclaim.on: variables', options.variables);
}

export const reclaim = {
  /** Gives back, from now on, tensors that nobody can reach any more. */
  on(options: ReclaimOptions = {}): void {
    check(options);
    if (currentEngine() === undefined && findTfjs() === undefined) {
      throw new EbbError(
        'EBB_NO_TFJS',
        '[reclaim.on] TensorFlow.js is not installed; run: npm install @tensorflow/tfjs-core@4 and a backend.',
      );
    }
    onWhenReady(options);
  },

  /** Gives nothing back from now on; the dead wait, and the books go on. */
  off(): void {
    wish().options = undefined;
    host().reclaim(false);
    const installed = hooksIfAny();
    if (installed === undefined) return;
    installed.scopes.weak = false;
    installed.variables.setWeak(false);
    installed.idle.stop();
  },

  get isOn(): boolean {
    return wish().options !== undefined && host().reclaiming();
  },
};
