// Gradients from the core's tape, in place of TensorFlow.js's own. README.md says how.
import { engine, type Tensor } from '@tensorflow/tfjs-core';
import { badArgument } from '../../errors';
import { ofIsolate } from '../../host';
import { EbbBackend } from '../backend';
import { EbbData } from '../data';
import { type Body, fusedKernel } from './fused';
import { rememberGradients, type TapeNode } from './path';
import { type Gradients, Taping, type TapingEngine } from './taping';

/** How gradients were taken. */
export interface TapeInfo {
  on: boolean;
  /** By the core. */
  native: number;
  /** By TensorFlow.js, and how often for which reason. */
  theirs: Record<string, number>;
}

function isOnAtStart(): boolean {
  const value = process.env.EBB_TAPE || '1';
  if (value !== '0' && value !== '1') throw badArgument('EBB_TAPE', value, '1 or 0');
  return value === '1';
}

/** The isolate's: copies of this package share it. */
export class TapeSwitch {
  on = isOnAtStart();
  native = 0;
  readonly theirs = new Map<string, number>();

  count(reason: string): void {
    this.theirs.set(reason, (this.theirs.get(reason) ?? 0) + 1);
  }

  info(): TapeInfo {
    return { on: this.on, native: this.native, theirs: Object.fromEntries(this.theirs) };
  }
}

const tapeSwitch = (): TapeSwitch => ofIsolate('tape', () => new TapeSwitch());

/** The one whose function runs now. */
let current: Taping | undefined;

function isWatchable(backend: EbbBackend, { dataId, dtype }: Tensor): boolean {
  const isHere = dataId instanceof EbbData && dataId.handle > 0 && dataId.home === backend.home;
  return isHere && dtype === 'float32';
}

/** Why the core's tape is not even opened; empty: it is. */
function whyNot(tracker: TapingEngine, xs: readonly Tensor[], dy?: Tensor | null): string {
  const backend = tracker.backend as unknown;
  if (!(backend instanceof EbbBackend)) return 'another backend was in use';
  if (tracker.state.profiling || engine().ENV.getBool('DEBUG')) return 'kernels were looked at';
  if (tracker.state.gradientDepth > 0) return 'it was inside of another one';
  const datas = new Set(xs.map(({ dataId }) => dataId));
  if (xs.length === 0 || datas.size < xs.length) return 'two of xs have the same data';
  if (!xs.every((x) => isWatchable(backend, x))) return 'an x is not a float32 tensor here';
  return dy == null || dy.dtype === 'float32' ? '' : 'dy is not float32';
}

/** A call of `engine.gradients`, and the method that it was meant for. */
interface Call {
  own: TapingEngine['gradients'];
  tracker: TapingEngine;
  f: () => Tensor;
  xs: Tensor[];
  dy: Tensor | null | undefined;
  /** Also where nothing leads from xs to y. */
  none: boolean;
}

function take({ own, tracker, f, xs, dy, none }: Call): Gradients {
  const counts = tapeSwitch();
  const taping = (current = new Taping(tracker.backend as unknown as EbbBackend, xs));
  let y: Tensor;
  try {
    y = taping.forward(f);
  } finally {
    current = undefined;
  }
  let why = taping.whyTheirs(y, dy);
  let grads: Tensor[] = [];
  try {
    if (why === '') grads = taping.backward(y, dy);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EBB_UNSUPPORTED') {
      taping.end();
      throw error;
    }
    why = (error as Error).message;
  }
  if (why !== '') {
    counts.count(why);
    return taping.theirs(own, y, dy, none);
  }
  taping.end();
  counts.native++;
  return { value: y, grads };
}

/** TensorFlow.js's own method. Inside of a function that is taped, what was held becomes tensors before it needs them. */
function leave({ own, tracker, f, xs, dy, none }: Call): Gradients {
  const outer = current;
  const inner = (): Tensor => {
    const y = f();
    outer?.held.becomeTensors(true);
    return y;
  };
  return own.call(tracker, outer === undefined ? f : inner, xs, dy, none);
}

const INSTALLED = Symbol.for('ebb-tfjs.tape');

/** Replaces some of the engine's methods, once; where no gradient is taken, they are TensorFlow.js's. */
export function installTape(): void {
  const tracker = engine() as unknown as TapingEngine & { [INSTALLED]?: true };
  rememberGradients();
  tapeSwitch();
  if (tracker[INSTALLED] === true) return;
  tracker[INSTALLED] = true;
  const { gradients: own, saveTensorsForBackwardMode: save, customGrad } = tracker;
  tracker.gradients = (f, xs, dy, none = false) => {
    const call = { own, tracker, f, xs, dy, none };
    if (!tapeSwitch().on) return leave(call);
    const why = whyNot(tracker, xs, dy);
    if (why === '') return take(call);
    tapeSwitch().count(why);
    return leave(call);
  };
  tracker.saveTensorsForBackwardMode = (tensors) =>
    current === undefined ? save.call(tracker, tensors) : current.held.hold(tensors);
  const { addTapeNode, runKernel } = tracker;
  tracker.runKernel = runKernel; // of its own: replacing it for a call does not change what the engine is like
  tracker.addTapeNode = (kernelName, inputs, outputs, gradient, saved, attrs) => {
    addTapeNode.call(tracker, kernelName, inputs, outputs, gradient, saved, attrs);
    if (current !== undefined) (tracker.state.activeTape?.at(-1) as TapeNode).attrs = attrs;
  };
  tracker.customGrad = (body: Body) => {
    const theirs = customGrad.call(tracker, body);
    const kernel = current === undefined ? undefined : fusedKernel(body);
    if (kernel === undefined) return theirs;
    return (...inputs) =>
      current !== undefined && tracker.isTapeOn()
        ? current.runFused(kernel, body, inputs)
        : theirs(...inputs);
  };
}
