// What a function did when it was recorded, to be run again by one call of the core.
import { engine, type Optimizer, type Tensor, type TensorInfo } from '@tensorflow/tfjs-core';
import { bytesOf, type Variable } from '../../engine/tfjs';
import { EbbError } from '../../errors';
import type { EbbBackend } from '../backend';
import { codeOf, EbbData, sameShape, sizeOf } from '../data';
import { runOp } from '../recipe';
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
}

/** An optimizer's numbers and switches, which are in the program as they were. */
function settingsOf(optimizer: Optimizer): Map<string, unknown> {
  const isSetting = ([name, value]: [string, unknown]): boolean =>
    name !== 'iterations_' && (typeof value === 'number' || typeof value === 'boolean');
  return new Map(Object.entries(optimizer).filter(isSetting));
}

export class RecordedProgram {
  private readonly settings: Map<Optimizer, Map<string, unknown>>;

  constructor(
    private readonly name: string,
    private readonly backend: EbbBackend,
    readonly parts: Parts,
  ) {
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

  /** The function's result. Whatever is thrown, everything is as it was before. */
  run(tensors: readonly Tensor[]): unknown {
    const { backend, parts } = this;
    const { outputs, assigned, inputs, captured } = parts;
    const { runtime } = backend;
    const given = tensors.map(({ dataId }) => backend.find(dataId, this.name));
    const held = captured.map((each) => this.dataOf(each));
    const noises = parts.noises.map((shape) => runOp(backend, 'RandomUniform', [], { shape }));
    try {
      runtime.begin();
      given.forEach((data, i) => this.give(data, inputs[i] as number[]));
      noises.forEach((data) => runtime.input(data.handle));
      held.forEach((data, i) => this.give(data, (captured[i] as Captured).shape));
      runtime.programRun(parts.program, outputs.length + assigned.length);
    } finally {
      backend.release(...noises);
    }
    const datas = [...outputs, ...parts.values].map((like, i) => this.dataAt(i, like));
    const results = outputs.map((like, i) => this.tensorOver(datas[i] as EbbData, like.shape));
    assigned.forEach((variable, i) => this.assign(variable, datas[outputs.length + i] as EbbData));
    for (const optimizer of parts.optimizers) {
      (optimizer as unknown as { incrementIterations(): void }).incrementIterations();
    }
    return filled(parts.form, results);
  }

  private give(data: EbbData, shape: readonly number[]): void {
    const { runtime } = this.backend;
    if (sameShape(data.shape, shape)) runtime.input(data.handle);
    else runtime.inputAs(data.handle, codeOf(data.dtype), shape);
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
    const data = variable.dataId as EbbData;
    const isAlone = data instanceof EbbData && data.refCount === 1 && data.slot < 0;
    if (isAlone && data.handle > 0 && data.home === this.backend.home) {
      this.backend.runtime.endHandle(data.handle, bytesOf(data.dtype, sizeOf(data.shape)));
      data.handle = made.handle;
      data.shape = made.shape;
      this.backend.died(); // one piece of data less than there were tensors made
      return;
    }
    const value = this.tensorOver(made, variable.shape);
    variable.assign(value as never);
    value.dispose();
  }
}
