// One `engine.gradients` whose function runs, or has run, with the core's tape open.
import { engine, type Tensor } from '@tensorflow/tfjs-core';
import type { Engine } from '../../engine/tfjs';
import type { EbbBackend, TapingListener } from '../backend';
import { EbbData, sameShape } from '../data';
import type { Attributes } from '../recipe';
import { callOf, type Body, type CustomCall } from './fused';
import { Held } from './held';
import { Paths, type TapeNode } from './path';

/** The parts of the engine that gradients are taken with. */
export interface TapingEngine extends Omit<Engine, 'state' | 'runKernelFunc'> {
  state: Engine['state'] & {
    gradientDepth: number;
    kernelDepth: number;
    activeTape: TapeNode[] | null;
    profiling: boolean;
  };
  isTapeOn(): boolean;
  startTape(): void;
  endTape(): void;
  tidy<T>(name: string, f: () => T): T;
  runKernel(kernelName: string, inputs: object, attrs: Attributes): Tensor;
  runKernelFunc(call: CustomCall): Tensor;
  addTapeNode(
    kernelName: string,
    inputs: unknown,
    outputs: Tensor[],
    gradient: unknown,
    saved: Tensor[],
    attrs: Attributes,
  ): void;
  gradients(f: () => Tensor, xs: Tensor[], dy?: Tensor | null, none?: boolean): Gradients;
  saveTensorsForBackwardMode(tensors: Tensor[]): Tensor[];
  customGrad(body: Body): (...inputs: Tensor[]) => Tensor;
}

export interface Gradients {
  value: Tensor;
  grads: Tensor[];
}

export class Taping implements TapingListener {
  readonly held = new Held();
  private readonly paths: Paths;
  private readonly handles: number[];
  private hasMoved = false;
  private readonly tracker = engine() as unknown as TapingEngine;

  /** Pre: canTape(). */
  constructor(
    private readonly backend: EbbBackend,
    private readonly xs: readonly Tensor[],
  ) {
    const datas = xs.map(({ dataId }) => dataId as EbbData);
    this.paths = new Paths(backend, this.tracker.backendName as string);
    this.handles = datas.map(({ handle }) => handle);
    for (const data of datas) if (data.refCount > 1) this.paths.shared.set(data, 0);
  }

  // ---- while the function runs

  /** Its result. Whatever it throws, nothing is held then. */
  forward(f: () => Tensor): Tensor {
    const { tracker, backend } = this;
    backend.runtime.tapeOpen(this.handles);
    backend.taping = this;
    tracker.startTape();
    let y: Tensor | undefined;
    try {
      return (y = tracker.tidy('forward', f));
    } finally {
      tracker.endTape();
      backend.taping = undefined;
      if (y === undefined) this.end();
    }
  }

  moved(): void {
    this.hasMoved = true;
  }

  shared(dataId: object): void {
    const { shared } = this.paths;
    if (!shared.has(dataId)) shared.set(dataId, this.tracker.state.activeTape?.length ?? 0);
  }

  /** A fused operation: its kernel's gradient is native. */
  runFused(kernel: string, body: Body, inputs: Tensor[]): Tensor {
    let saved: Tensor[] = [];
    let seen: Attributes = {};
    const { tracker } = this;
    const { runKernel } = tracker;
    const looking: Body = (...given) => {
      tracker.runKernel = (name, of, attrs) => {
        seen = attrs;
        tracker.runKernel = runKernel;
        return runKernel.call(tracker, name, of, attrs);
      };
      return body(...given);
    };
    const call = callOf(looking, inputs, (tensors) => (saved = this.held.hold(tensors)));
    const result = this.tracker.runKernelFunc(call);
    const node = this.tracker.state.activeTape?.at(-1) as TapeNode;
    Object.assign(node, { saved, fused: kernel, attrs: seen });
    return result;
  }

  // ---- when it is done

  /** Why TensorFlow.js is to take these gradients; empty: the core can. */
  whyTheirs(y: unknown, dy: Tensor | null | undefined): string {
    const { backend, xs } = this;
    if (this.hasMoved) return 'data came from another backend';
    if (xs.some(({ dataId }, i) => (dataId as EbbData).handle !== this.handles[i]))
      return 'an x has been assigned to, or disposed';
    const result = y as Tensor;
    const data = (result as Partial<Tensor> | undefined)?.dataId;
    const isHere = data instanceof EbbData && data.home === backend.home && data.handle > 0;
    if (!isHere || result.dtype !== 'float32') return 'y is not a float32 tensor of the backend';
    if (dy != null && !sameShape(dy.shape, result.shape)) return 'dy has another shape than y';
    const tape = this.tracker.state.activeTape as TapeNode[];
    const { isThere, theirs } = this.paths.between(tape, xs, result);
    return isThere ? theirs : 'y does not depend on x';
  }

  /** The gradients. On an error the tape is closed, and what is held stays so. */
  backward(y: Tensor, dy: Tensor | null | undefined): Tensor[] {
    const { backend, xs, handles } = this;
    const { runtime } = backend;
    runtime.begin();
    backend.operand(y, 'gradients');
    if (dy == null) runtime.input(0);
    else backend.operand(dy, 'gradients');
    for (const handle of handles) runtime.input(handle);
    runtime.tapeBackward();
    return xs.map((x, i) => this.gradient(x, runtime.resultHandle(i)) as Tensor);
  }

  /** TensorFlow.js's own method, from where the function has come to. */
  theirs(
    own: TapingEngine['gradients'],
    y: Tensor,
    dy: Tensor | null | undefined,
    none: boolean,
  ): Gradients {
    const { tracker, backend, xs } = this;
    const tape = tracker.state.activeTape;
    backend.runtime.tapeClose();
    this.held.becomeTensors(false);
    const resume = (): Tensor => {
      tracker.state.activeTape = tape; // it has begun another
      return y;
    };
    try {
      return own.call(tracker, resume, [...xs], dy, none);
    } catch (error) {
      // TensorFlow.js would leave what it has saved.
      tracker.state.activeTape = tape;
      this.end();
      throw error;
    }
  }

  /** Lets go of everything but the gradients. */
  end(): void {
    const { tracker, backend } = this;
    backend.runtime.tapeClose();
    for (const { saved } of tracker.state.activeTape ?? []) {
      for (const tensor of saved) tensor.dispose();
    }
    tracker.state.activeTape = null;
    this.held.letGo();
  }

  /** In the shape that x has, which may be another than its data's. */
  private gradient({ dataId, shape, dtype }: Tensor, handle: number): Tensor | undefined {
    if (handle === 0) return undefined;
    const data = new EbbData(handle, (dataId as EbbData).shape, dtype);
    data.home = this.backend.home;
    this.backend.runtime.born++;
    return engine().makeTensorFromTensorInfo({ dataId: data, shape, dtype }, this.backend);
  }
}
