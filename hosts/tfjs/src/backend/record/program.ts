// What a function did when it was recorded, to be run again by one call of the core.
import { engine, type Tensor, type TensorInfo } from '@tensorflow/tfjs-core';
import { bytesOf, isVariable, type Tensor as Owner, type Variable } from '../../engine/tfjs';
import { EbbError } from '../../errors';
import type { EbbBackend } from '../backend';
import { codeOf, EbbData, sameShape, sizeOf } from '../data';
import { runOp } from '../recipe';
import type { Circumstances, Steps } from './circumstances';
import { type Guards, OtherValues } from './guards';
import type { MaybeReason } from './reasons';
import type { Captured } from './recording';
import { moveTo, tensorOver } from './tensors';
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
  /** Which of them are kept (`tf.keep`). */
  kept: number[];
  assigned: Variable[];
  values: Likeness[];
  /** What optimizers counted. */
  counted: Steps;
  circumstances: Circumstances;
  guards: Guards;
  /** Of what was looked at. */
  looks: Likeness[];
  /** Results are the same tensors in each call. */
  reuse: boolean;
  /** The core may write over what an optimizer updates. */
  overwrites: boolean;
}

function isAlive({ owner }: Captured): boolean {
  return owner.isDisposed !== true && engine().state.tensorInfo.has(owner.dataId);
}

function nameOf(owner: Captured['owner']): string {
  if (owner.isDisposed === undefined) return 'tensor';
  return isVariable(owner) ? `variable "${owner.name}"` : 'reused result';
}

export class RecordedProgram {
  private readonly assigned: Set<Variable>;
  /** What a run makes, in the order of the core. */
  private readonly made: Likeness[];
  /** Where among these is what was looked at. */
  private readonly firstLook: number;
  /** The results of the last call, where they are used again. */
  private reused: Tensor[] = [];

  constructor(
    private readonly name: string,
    private readonly backend: EbbBackend,
    readonly parts: Parts,
  ) {
    this.assigned = new Set(parts.assigned);
    for (const { owner } of parts.captured) {
      if (owner.isDisposed === undefined) (owner.dataId as EbbData).isConstant = true;
    }
    this.firstLook = parts.outputs.length + parts.values.length;
    this.made = [...parts.outputs, ...parts.values, ...parts.looks];
  }

  /** Why it is not what the function would do now; empty: it is. */
  outdated(): MaybeReason {
    return this.parts.circumstances.difference();
  }

  /** Why it cannot be run, though it has just been recorded; empty: it can. */
  whyBroken(): MaybeReason {
    return this.parts.captured.every(isAlive) ? '' : 'it uses tensors of another backend';
  }

  /**
   * The function's result. Whatever is thrown, OtherValues too, everything is as it was before; but a step that has been
   * written over its variables is done, though no tensor could be made of a result.
   */
  run(given: readonly Tensor[]): unknown {
    const { guards, form } = this.parts;
    const handles = this.runCore(given);
    if (guards.count > 0) this.checkLooks(handles);
    const tensors = this.tensorsFor(handles);
    const results = this.resultsOf(handles, tensors);
    this.update(handles, tensors);
    return filled(form, results);
  }

  private runCore(tensors: readonly Tensor[]): number[] {
    const { backend, parts } = this;
    const noises: EbbData[] = [];
    try {
      for (const shape of parts.noises) {
        noises.push(runOp(backend, 'RandomUniform', [], { shape }));
      }
      if (!this.giveAll(tensors, noises)) {
        this.bring(tensors);
        this.giveAll(tensors, noises);
      }
      return backend.runtime.programRun(parts.program, this.made.length);
    } catch (error) {
      if (parts.guards.count > 0) this.checkLooksBefore(tensors, noises);
      throw error;
    } finally {
      if (noises.length > 0) backend.release(...noises);
    }
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
      const data = backend.here(each.owner.dataId);
      if (data === undefined || !isAlive(each)) return false;
      this.lend(data, each);
    }
    return true;
  }

  private bring(tensors: readonly Tensor[]): void {
    for (const { dataId } of tensors) this.backend.find(dataId, this.name);
    for (const each of this.parts.captured) {
      if (!isAlive(each)) this.failDisposed(each);
      this.backend.find(each.owner.dataId, this.name);
    }
  }

  /** What was looked at is at the end of the list; where a value is different, the results end. */
  private checkLooks(handles: readonly number[]): void {
    const { backend, parts, firstLook } = this;
    const looked = this.dataOf(handles, firstLook);
    try {
      parts.guards.check(backend, looked);
    } catch (error) {
      backend.release(...this.dataOf(handles, 0, firstLook));
      throw error;
    } finally {
      backend.release(...looked);
    }
  }

  /**
   * After an error: throws OtherValues where a value is different that was looked at before. The function goes another
   * way then, and may have no error. Where all are the same, so is the error.
   */
  private checkLooksBefore(tensors: readonly Tensor[], noises: readonly EbbData[]): void {
    const { backend, parts, firstLook } = this;
    const made: EbbData[] = [];
    try {
      this.bringIfPossible(tensors);
      this.giveWhatIsHere(tensors, noises);
      const handles = backend.runtime.programRunPartly(parts.program, this.made.length);
      const gap = handles.indexOf(0, firstLook);
      const looked = this.dataOf(handles, firstLook, gap < 0 ? handles.length : gap);
      made.push(...looked, ...this.dataOf(handles, 0, firstLook));
      if (gap >= 0) made.push(...this.dataOf(handles, gap));
      parts.guards.check(backend, looked);
    } catch (error) {
      if (error instanceof OtherValues) throw error; // others: the values cannot be had
    } finally {
      backend.release(...made);
    }
  }

  private bringIfPossible(tensors: readonly Tensor[]): void {
    const captured = this.parts.captured.filter(isAlive).map(({ owner }) => owner);
    for (const { dataId } of [...tensors, ...captured]) {
      if (engine().state.tensorInfo.has(dataId)) this.backend.find(dataId, this.name);
    }
  }

  /** 0 for what is disposed of, or could not be drawn. */
  private giveWhatIsHere(tensors: readonly Tensor[], noises: readonly EbbData[]): void {
    const { inputs, captured } = this.parts;
    const { backend } = this;
    const { runtime } = backend;
    runtime.begin();
    tensors.forEach(({ dataId }, i) => {
      const data = backend.here(dataId);
      if (data === undefined) runtime.input(0);
      else this.give(data, inputs[i] as number[]);
    });
    for (let i = 0; i < this.parts.noises.length; i++) runtime.input(noises[i]?.handle ?? 0);
    for (const each of captured) {
      const data = isAlive(each) ? backend.here(each.owner.dataId) : undefined;
      if (data === undefined) runtime.input(0);
      else this.lend(data, each);
    }
  }

  /** Data over what was made of these places; none where nothing was. */
  private dataOf(handles: readonly number[], from: number, to = handles.length): EbbData[] {
    return this.made.slice(from, to).flatMap((like, i) => {
      const handle = handles[from + i] as number;
      return handle > 0 ? [this.dataOver(handle, like)] : [];
    });
  }

  private drop(handles: readonly number[], i: number): void {
    this.backend.release(this.dataOver(handles[i] as number, this.made[i] as Likeness));
  }

  /**
   * Tensors over outputs and over new values of variables, in the order of the core; none where data that is there
   * takes the handle. All that can go wrong once the core has run is here, before anything is different.
   */
  private tensorsFor(handles: readonly number[]): Array<Tensor | undefined> {
    const { outputs, assigned } = this.parts;
    const olds = this.isReused() ? this.reused : [];
    const tensors: Array<Tensor | undefined> = [];
    try {
      for (let i = 0; i < outputs.length + assigned.length; i++) {
        const old = i < outputs.length ? olds[i] : assigned[i - outputs.length];
        const takes = old !== undefined && this.isAlone(old.dataId);
        tensors.push(takes ? undefined : this.tensorOver(handles, i));
      }
    } catch (error) {
      this.giveUp(handles, tensors);
      throw error;
    }
    return tensors;
  }

  /** No tensor could be made of the one after these. What the core may have written over has to be a whole step. */
  private giveUp(handles: readonly number[], tensors: ReadonlyArray<Tensor | undefined>): void {
    const { outputs, assigned, overwrites } = this.parts;
    for (let i = 0; i < outputs.length; i++) this.undo(handles, tensors, i);
    for (let at = 0; at < assigned.length; at++) {
      const i = outputs.length + at;
      if (overwrites) this.assignIfPossible(assigned[at] as Variable, handles, i, tensors);
      else this.undo(handles, tensors, i);
    }
    if (overwrites) this.parts.counted.countAgain();
  }

  private assignIfPossible(
    variable: Variable,
    handles: readonly number[],
    i: number,
    tensors: ReadonlyArray<Tensor | undefined>,
  ): void {
    if (i < tensors.length || this.isAlone(variable.dataId)) {
      this.assign(variable, handles, i, tensors[i]);
    } else if (i > tensors.length) {
      try {
        this.assign(variable, handles, i, this.tensorOver(handles, i));
      } catch {
        // It cannot be done: TensorFlow.js makes no tensors any more.
      }
    }
  }

  private undo(
    handles: readonly number[],
    tensors: ReadonlyArray<Tensor | undefined>,
    i: number,
  ): void {
    if (tensors[i] !== undefined) tensors[i].dispose();
    else if (i !== tensors.length) this.drop(handles, i);
  }

  private isReused(): boolean {
    return this.reused.length > 0 && this.reused.every(({ isDisposed }) => !isDisposed);
  }

  private resultsOf(
    handles: readonly number[],
    tensors: ReadonlyArray<Tensor | undefined>,
  ): Tensor[] {
    const { outputs, reuse, kept } = this.parts;
    if (this.isReused()) {
      this.reused.forEach((tensor, i) => this.assign(tensor, handles, i, tensors[i]));
      return this.reused;
    }
    const results = tensors.slice(0, outputs.length) as Tensor[];
    if (reuse) this.keep(results);
    for (let i = 0; i < kept.length; i++) engine().keep(results[kept[i] as number] as Tensor);
    return results;
  }

  /** Results of the recorded call: later calls fill them again. */
  adopt(results: readonly Tensor[]): void {
    if (this.parts.reuse) this.keep(results);
  }

  private keep(results: readonly Tensor[]): void {
    this.dispose();
    this.reused = results.map((each) => engine().keep(each));
  }

  /** Results that the next call fills again. */
  results(): Tensor[] {
    return this.reused.filter(({ isDisposed }) => !isDisposed);
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
  private lend(data: EbbData, { owner, shape }: Captured): void {
    const isOthers = data.refCount > 1 && this.assigned.has(owner as Variable);
    if (isOthers) this.backend.runtime.inputAs(data.handle, codeOf(data.dtype), shape);
    else this.give(data, shape);
  }

  private failDisposed({ owner, dtype, shape, line }: Captured): never {
    throw new EbbError(
      'EBB_STALE_HANDLE',
      `[record] "${this.name}" uses a ${nameOf(owner)}, ${dtype} [${shape.join()}]${line}, that is disposed; allowed: ` +
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

  private tensorOver(handles: readonly number[], i: number): Tensor {
    const like = this.made[i] as Likeness;
    return tensorOver(this.backend, this.dataOver(handles[i] as number, like), like.shape);
  }

  /** Variables get their new values, and optimizers count a step. */
  private update(handles: readonly number[], tensors: ReadonlyArray<Tensor | undefined>): void {
    const { outputs, assigned } = this.parts;
    for (let at = 0; at < assigned.length; at++) {
      const i = outputs.length + at;
      this.assign(assigned[at] as Variable, handles, i, tensors[i]);
    }
    this.parts.counted.countAgain();
  }

  /** The owner's data gets the new tensor in place of its own, where nobody else sees it. */
  private assign(
    owner: Owner,
    handles: readonly number[],
    i: number,
    value: Tensor | undefined,
  ): void {
    if (value === undefined) return this.put(owner.dataId as EbbData, handles, i);
    moveTo(this.backend, owner, value);
  }

  private isAlone(data: object): boolean {
    const isOwn = data instanceof EbbData && data.refCount === 1 && data.slot < 0;
    return isOwn && !data.isConstant && data.handle > 0 && data.home === this.backend.home;
  }

  private put(data: EbbData, handles: readonly number[], i: number): void {
    this.backend.runtime.endHandle(data.handle, bytesOf(data.dtype, sizeOf(data.shape)));
    data.handle = handles[i] as number;
    data.shape = (this.made[i] as Likeness).native;
  }
}
