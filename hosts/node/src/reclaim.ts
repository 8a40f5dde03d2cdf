// The switch: global, off at first, at any time, both ways.
import { badArgument, checkOptions, EbbError } from './errors';
import { registerFileHandlers } from './files';
import { type Hooks, hooks, hooksIfAny } from './hooks';
import { findTfjs } from './locate';
import { native } from './native';
import { currentEngine, onEngine } from './tfjs';

export interface ReclaimOptions {
  /** False: variables stay registered for ever, as TensorFlow.js has it. Default: true. */
  variables?: boolean;
}

let wanted: Required<ReclaimOptions> | undefined;
let waiting = false;

function begin(installed: Hooks): void {
  if (wanted === undefined) return;
  installed.native.reclaim(true);
  installed.scopes.weak = true;
  installed.variables.setWeak(wanted.variables);
  installed.idle.arm();
  registerFileHandlers();
  installed.safePoint();
}

/** Switches on as soon as there is an engine; does not insist that there ever is one. */
export function onWhenReady(options: ReclaimOptions = {}): void {
  wanted = { variables: options.variables ?? true };
  native().reclaim(true);
  const installed = hooks();
  if (installed !== undefined) begin(installed);
  else if (!waiting) {
    waiting = true;
    onEngine(() => begin(hooks() as Hooks));
  }
}

function check(options: ReclaimOptions): void {
  checkOptions('reclaim.on', options, 'variables');
  const { variables } = options;
  if (variables !== undefined && typeof variables !== 'boolean')
    throw badArgument('reclaim.on: variables', variables, 'true or false');
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
    wanted = undefined;
    native().reclaim(false);
    const installed = hooksIfAny();
    if (installed === undefined) return;
    installed.scopes.weak = false;
    installed.variables.setWeak(false);
    installed.idle.stop();
  },

  get isOn(): boolean {
    return wanted !== undefined && native().reclaiming();
  },
};
