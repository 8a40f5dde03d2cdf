// What a function did when it was recorded, to be run again by one call of the core.
import { engine, type Optimizer, type Tensor, type TensorInfo } from '@tensorflow/tfjs-core';
import { bytesOf, type Variable } from '../../engine/tfjs';
import { EbbError } from '../../errors';
import type { EbbBackend } from '../backend';
import { codeOf, EbbData, sameShape, sizeOf } from '../data';
import { runOp } from '../recipe';
import type { Guards } from './guards';
import type { Captured } from './recording';
import { willBeRefilled } from './tensors';
import { filled, type Form } from './values';

/** What a tensor is like: in TensorFlow.js, and its native one. */
export interface Likeness {
  dtype: TensorInfo['dtype'];
  shape: number[];
  native: number[];
}

export interface Parts {
  program: number;
  steps: number;
  inputs: number[][];
  noises: number[][];
  captured: Captured[];
  form: Form;
  outputs: Likeness[];
  assigned: Variable[];
  values: Likeness[];
  optimizers: Optimizer[];
  guards: Guards;
  /** Of what was looked at. */
  looks: Likeness[];
  /** Results are the same tensors in each call. */
  reuse: boolean;
}

/** An optimizer's numbers and switches, which are in the program as they were. */
function settingsOf(optimizer: Optimizer): Map<string, unknown> {
  const isSetting = ([name, value]: [string, unknown]): boolean =>
    name !== 'iterations_' && (typeof value === 'number' || typeof value === 'boolean');
  return new Map(Object.entries(optimizer).filter(isSetting));
}

function isAlive({ variable, dataId }: Captured): boolean {
  const isThere = variable === undefined || !variable.isDisposed;
  return isThere && engine().state.tensorInfo.has(variable?.dataId ?? dataId);
}

export class RecordedProgram {
  private readonly settings: Map<Optimizer, Map<string, unknown>>;
  private readonly assigned: Set<Variable>;
  /** What a run makes, in the order of the core. */
  private readonly made: Likeness[];
  /** The results of the last call, where they are used again. */
  private reused: Tensor[] = [];

  constructor(
    private readonly name: string,
    private readonly backend: EbbBackend,
    readonly parts: Parts,
  ) {
    this.assigned = new Set(parts.assigned);
    this.made = [...parts.outputs, ...parts.values, ...parts.looks];
    this.settings = new Map(parts.optimizers.map((each) => [each, settingsOf(each)]));
  }

  /** Why it is not what the function would do now; empty: it is. */
  outdated(): string {
    for (const [optimizer, then] of this.settings) {
      const now = optimizer as unknown as Record<string, unknown>;
      for (const [name, value] of then) {
        if (!Object.is(now[name], value)) return `${name} of an optimizer changed`;
      }
    }
    return '';
  }

  /** The function's result. Whatever is thrown, OtherValues too, everything is as it was before. */
  run(tensors: readonly Tensor[]): unknown {
    const { parts } = this;
    const handles =
      parts.noises.length === 0 ? this.runCore(tensors, []) : this.runWithNoises(tensors);
    const results = this.resultsOf(handles);
    const first = parts.outputs.length;
    for (let i = 0; i < parts.assigned.length; i++) {
      this.assign(parts.assigned[i] as Variable, handles[first + i] as number, first + i);
    }
    for (const optimizer of parts.optimizers) {
      (optimizer as unknown as { incrementIterations(): void }).incrementIterations();
    }
    return filled(parts.form, results);
  }

  private runWithNoises(tensors: readonly Tensor[]): number[] {
    const { backend } = this;
    const noises = this.parts.noises.map((shape) => runOp(backend, 'RandomUniform', [], { shape }));
    try {
      return this.runCore(tensors, noises);
    } finally {
      backend.release(...noises);
    }
  }

  private runCore(tensors: readonly Tensor[], noises: readonly EbbData[]): number[] {
    if (!this.giveAll(tensors, noises)) {
      this.bring(tensors);
      this.giveAll(tensors, noises);
    }
    return this.backend.runtime.programRun(this.parts.program, this.made.length);
  }

  /** False: some data is not here. Bringing it takes operations, which have inputs of their own. */
  private giveAll(tensors: readonly Tensor[], noises: readonly EbbData[]): boolean {
    const { inputs, captured } = this.parts;
    const { backend } = this;
    backend.runtime.begin();
    for (let i = 0; i < tensors.length; i++) {
      const data = backend.here((tensors[i] as Tensor).dataId);
      if (data === undefined) return false;
      this.give(data, inputs[i] as number[]);
    }
    for (const data of noises) backend.runtime.input(data.handle);
    for (let i = 0; i < captured.length; i++) {
      const each = captured[i] as Captured;
      const data = backend.here(each.variable?.dataId ?? each.dataId);
      if (data === undefined || !isAlive(each)) return false;
      this.lend(data, each);
    }
    return true;
  }

  private bring(tensors: readonly Tensor[]): void {
    for (const { dataId } of tensors) this.backend.find(dataId, this.name);
    for (const each of this.parts.captured) {
      if (!isAlive(each)) this.failDisposed(each);
      this.backend.find(each.variable?.dataId ?? each.dataId, this.name);
    }
  }

  /** The tensors of the outputs. Where one cannot be made, nothing is left of what the core has made. */
  private resultsOf(handles: readonly number[]): Tensor[] {
    const { outputs, guards, assigned } = this.parts;
    try {
      if (guards.count > 0) this.checkLooks(handles);
      return this.results(outputs.map((like, i) => this.dataOver(handles[i] as number, like)));
    } catch (error) {
      for (let i = 0; i < assigned.length; i++) this.drop(handles, outputs.length + i);
      throw error;
    }
  }

  /** What was looked at is at the end of the list; where a value is different, the results end. */
  private checkLooks(handles: readonly number[]): void {
    const { backend, parts, made } = this;
    const first = made.length - parts.guards.count;
    const looked = parts.looks.map((like, i) => this.dataOver(handles[first + i] as number, like));
    try {
      parts.guards.check(backend, looked);
    } catch (error) {
      for (let i = 0; i < parts.outputs.length; i++) this.drop(handles, i);
      throw error;
    } finally {
      backend.release(...looked);
    }
  }

  private drop(handles: readonly number[], i: number): void {
    this.backend.release(this.dataOver(handles[i] as number, this.made[i] as Likeness));
  }

  private results(datas: EbbData[]): Tensor[] {
    const { outputs, reuse } = this.parts;
    const again = this.reused;
    const isThere = again.length > 0 && again.every(({ isDisposed }) => !isDisposed);
    if (!isThere) this.dispose();
    const made: Tensor[] = [];
    let owned = 0; // of the datas; one of which no tensor could be made has ended
    try {
      if (isThere) {
        for (const tensor of again) this.refill(tensor, datas[owned++] as EbbData);
        return again;
      }
      for (const { shape } of outputs) {
        made.push(this.tensorOver(datas[owned++] as EbbData, shape));
      }
    } catch (error) {
      this.backend.release(...datas.slice(owned));
      for (const each of made) each.dispose();
      throw error;
    }
    if (reuse) this.keep(made);
    return made;
  }

  /** The tensor has the new data from now on, as a variable has that is assigned to. */
  private refill(tensor: Tensor, made: EbbData): void {
    if (this.isAlone(tensor.dataId)) {
      this.put(tensor.dataId as EbbData, made.handle, made.shape);
      return this.backend.died(); // one piece of data less than there were tensors made
    }
    const value = this.tensorOver(made, tensor.shape);
    engine().disposeTensor(tensor);
    tensor.dataId = value.dataId;
    engine().incRef(tensor, this.backend);
    willBeRefilled(tensor);
    value.dispose();
  }

  /** Results of the recorded call: later calls fill them again. */
  adopt(results: Tensor[]): void {
    if (this.parts.reuse) this.keep(results);
  }

  private keep(results: Tensor[]): void {
    this.reused = results.map((each) => engine().keep(each));
    this.reused.forEach(willBeRefilled);
  }

  /** Ends the results that are used again. */
  dispose(): void {
    for (const each of this.reused.splice(0)) if (!each.isDisposed) each.dispose();
  }

  private give(data: EbbData, shape: readonly number[]): void {
    const { runtime } = this.backend;
    if (sameShape(data.shape, shape)) runtime.input(data.handle);
    else runtime.inputAs(data.handle, codeOf(data.dtype), shape);
  }

  /** A variable that is assigned to, and that others see too, is given as a view: the core does not write over it then. */
  private lend(data: EbbData, { variable, shape }: Captured): void {
    const isOthers = variable !== undefined && data.refCount > 1 && this.assigned.has(variable);
    if (isOthers) this.backend.runtime.inputAs(data.handle, codeOf(data.dtype), shape);
    else this.give(data, shape);
  }

  private failDisposed({ variable, dtype, shape, line }: Captured): never {
    const what = variable === undefined ? 'tensor' : `variable "${variable.name}"`;
    throw new EbbError(
      'EBB_STALE_HANDLE',
      `[record] "${this.name}" uses a ${what}, ${dtype} [${shape.join()}]${line}, that is disposed; allowed: ` +
        'tensors that live as long as the function is used.',
    );
  }

  /** One more piece of data, with what the core has made. */
  private dataOver(handle: number, { native, dtype }: Likeness): EbbData {
    const { runtime, home } = this.backend;
    const data = new EbbData(handle, native, dtype);
    data.home = home;
    runtime.born++;
    return data;
  }

  private tensorOver(data: EbbData, shape: number[]): Tensor {
    const info = { dataId: data, shape, dtype: data.dtype };
    return engine().makeTensorFromTensorInfo(info, this.backend);
  }

  /** The variable's data gets the new tensor in place of its own, where nobody else sees it. */
  private assign(variable: Variable, handle: number, at: number): void {
    const { dataId } = variable;
    const like = this.made[at] as Likeness;
    if (this.isAlone(dataId)) return this.put(dataId as EbbData, handle, like.native);
    const value = this.tensorOver(this.dataOver(handle, like), variable.shape);
    variable.assign(value as never);
    value.dispose();
  }

  private isAlone(data: object): boolean {
    const isOwn = data instanceof EbbData && data.refCount === 1 && data.slot < 0;
    return isOwn && data.handle > 0 && data.home === this.backend.home;
  }

  private put(data: EbbData, handle: number, native: number[]): void {
    this.backend.runtime.endHandle(data.handle, bytesOf(data.dtype, sizeOf(data.shape)));
    data.handle = handle;
    data.shape = native;
  }
}
