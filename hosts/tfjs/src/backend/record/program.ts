// What a function did when it was recorded, to be run again by one call of the core.
import { engine, type Optimizer, type Tensor, type TensorInfo } from '@tensorflow/tfjs-core';
import { bytesOf, type Variable } from '../../engine/tfjs';
import { EbbError } from '../../errors';
import type { EbbBackend } from '../backend';
import { codeOf, EbbData, sameShape, sizeOf } from '../data';
import { runOp } from '../recipe';
import type { Guards } from './guards';
import type { Captured } from './recording';
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
    const { outputs, assigned } = parts;
    // Finding data may bring it here from another backend, by an operation.
    const given = tensors.map(({ dataId }) => this.backend.find(dataId, this.name));
    const held = parts.captured.map((each) => this.dataOf(each));
    if (parts.noises.length === 0) this.runCore(given, held, []);
    else this.runWithNoises(given, held);
    const datas = this.made.map((like, i) => this.dataAt(i, like));
    if (parts.guards.count > 0) this.checkLooks(datas);
    const results = this.results(datas.slice(0, outputs.length));
    assigned.forEach((variable, i) => this.assign(variable, datas[outputs.length + i] as EbbData));
    for (const optimizer of parts.optimizers) {
      (optimizer as unknown as { incrementIterations(): void }).incrementIterations();
    }
    return filled(parts.form, results);
  }

  private runWithNoises(given: EbbData[], held: EbbData[]): void {
    const { backend } = this;
    const noises = this.parts.noises.map((shape) => runOp(backend, 'RandomUniform', [], { shape }));
    try {
      this.runCore(given, held, noises);
    } finally {
      backend.release(...noises);
    }
  }

  private runCore(given: EbbData[], held: EbbData[], noises: EbbData[]): void {
    const { inputs, captured, program } = this.parts;
    const { runtime } = this.backend;
    runtime.begin();
    for (let i = 0; i < given.length; i++) this.give(given[i] as EbbData, inputs[i] as number[]);
    for (const data of noises) runtime.input(data.handle);
    for (let i = 0; i < held.length; i++) this.lend(held[i] as EbbData, captured[i] as Captured);
    runtime.programRun(program, this.made.length);
  }

  /** Takes what was looked at from the end of the list; all of it ends where a value is different. */
  private checkLooks(datas: EbbData[]): void {
    const { backend, parts } = this;
    const looked = datas.splice(-parts.guards.count);
    try {
      parts.guards.check(backend, looked);
    } catch (error) {
      backend.release(...datas);
      throw error;
    } finally {
      backend.release(...looked);
    }
  }

  private results(datas: EbbData[]): Tensor[] {
    const { outputs, reuse } = this.parts;
    const again = this.reused;
    if (again.length > 0 && again.every(({ isDisposed }) => !isDisposed)) {
      again.forEach((tensor, i) => this.refill(tensor, datas[i] as EbbData));
      return again;
    }
    this.dispose();
    const made = outputs.map((like, i) => this.tensorOver(datas[i] as EbbData, like.shape));
    if (reuse) this.reused = made.map((each) => engine().keep(each));
    return made;
  }

  /** The tensor has the new data from now on, as a variable has that is assigned to. */
  private refill(tensor: Tensor, made: EbbData): void {
    if (this.isAlone(tensor.dataId)) return this.put(tensor.dataId as EbbData, made);
    const value = this.tensorOver(made, tensor.shape);
    engine().disposeTensor(tensor);
    tensor.dataId = value.dataId;
    engine().incRef(tensor, this.backend);
    value.dispose();
  }

  /** Results of the recorded call: later calls fill them again. */
  adopt(results: Tensor[]): void {
    if (this.parts.reuse) this.reused = results.map((each) => engine().keep(each));
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

  private dataOf({ variable, dataId, dtype, shape, line }: Captured): EbbData {
    const isThere = variable === undefined || !variable.isDisposed;
    const id = variable?.dataId ?? dataId;
    if (isThere && engine().state.tensorInfo.has(id)) return this.backend.find(id, this.name);
    const what = variable === undefined ? 'tensor' : `variable "${variable.name}"`;
    throw new EbbError(
      'EBB_STALE_HANDLE',
      `[record] "${this.name}" uses a ${what}, ${dtype} [${shape.join()}]${line}, that is disposed; allowed: ` +
        'tensors that live as long as the function is used.',
    );
  }

  private dataAt(index: number, { native, dtype }: Likeness): EbbData {
    const { runtime, home } = this.backend;
    const data = new EbbData(runtime.resultHandle(index), native, dtype);
    data.home = home;
    runtime.born++;
    return data;
  }

  private tensorOver(data: EbbData, shape: number[]): Tensor {
    const info = { dataId: data, shape, dtype: data.dtype };
    return engine().makeTensorFromTensorInfo(info, this.backend);
  }

  /** The variable's data gets the new tensor in place of its own, where nobody else sees it. */
  private assign(variable: Variable, made: EbbData): void {
    const { dataId } = variable;
    if (this.isAlone(dataId)) return this.put(dataId as EbbData, made);
    const value = this.tensorOver(made, variable.shape);
    variable.assign(value as never);
    value.dispose();
  }

  private isAlone(data: object): boolean {
    const isOwn = data instanceof EbbData && data.refCount === 1 && data.slot < 0;
    return isOwn && data.handle > 0 && data.home === this.backend.home;
  }

  private put(data: EbbData, made: EbbData): void {
    this.backend.runtime.endHandle(data.handle, bytesOf(data.dtype, sizeOf(data.shape)));
    data.handle = made.handle;
    data.shape = made.shape;
    this.backend.died(); // one piece of data less than there were tensors made
  }
}
