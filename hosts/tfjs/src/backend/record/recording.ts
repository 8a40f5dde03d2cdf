// One call of a function that is being recorded: what the backend tells of it, and what cannot be recorded.
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { type DataId, isVariable, type Tensor, type Variable } from '../../engine/tfjs';
import { EbbError } from '../../errors';
import { ofIsolate } from '../../host';
import type { EbbBackend } from '../backend';
import type { EbbData } from '../data';
import { runOp } from '../recipe';
import type { Listener } from '../runtime';
import { Steps } from './circumstances';
import { Guards, valuesOf } from './guards';
import { deepStack, userLine } from './lines';
import { Lives } from './lives';
import type { MaybeReason, Reason } from './reasons';
import { SteadyValues } from './steady';
import { allVariables, heardWhereAway, isShared, tellApart } from './tensors';

/** Data that the function used and was not given: a variable's, or that of a tensor from outside. */
export interface Captured {
  /** What has other data from time to time: a variable, or a result that is filled again. Otherwise the data alone. */
  owner: Variable | Tensor | { readonly dataId: DataId; readonly isDisposed?: undefined };
  dtype: string;
  /** Of the native tensor. */
  shape: number[];
  /** Where it was used first, where that is known. */
  line: string;
}

interface UnderWay {
  recording: Recording | undefined;
}

let found: UnderWay | undefined;
/** Another copy of this package may have TensorFlow.js's optimizers. */
const underWay = (): UnderWay =>
  (found ??= ofIsolate('recording a function', () => ({ recording: undefined })));
/** The recording under way in this isolate, if there is one. */
export const recordingUnderWay = (): Recording | undefined => underWay().recording;

/** TensorFlow.js's own dropout: its random numbers are uniform from 0 to 1. */
const DROPOUT = /\bdropout_/;
const FLOAT32 = 1;

export class Recording implements Listener {
  readonly program: number;
  /** Why the function cannot be replayed; empty: it can. */
  refusal: MaybeReason = '';
  /** Shapes of the uniform random numbers that each run needs anew. */
  readonly noises: number[][] = [];
  /** Steps of optimizers. */
  readonly optimizers = new Steps();
  /** What the function looked at, as the program's own tensors; until dropLooks(). */
  readonly looks: EbbData[] = [];
  private readonly seen = new Map<number, Captured>();
  /** Variables as they were before, and whose data that was. */
  private readonly before = new Map<Variable, DataId>();
  private readonly owners = new Map<DataId, Variable | Tensor>();
  /** Data on other backends that owners share: it is told apart in the next recording, where it is here by then. */
  private readonly unclear = new Set<DataId>();
  private usesUnclear = false;
  private readonly steady: SteadyValues;
  private readonly lives: Lives;
  private readonly endHearing: () => void;
  private readonly random = Math.random;
  private randomCalls = 0;

  constructor(
    private readonly backend: EbbBackend,
    private readonly name: string,
    /** What the function is given, made for this call, from this id on. */
    given: readonly Tensor[],
    firstId: number,
    flags: number,
    private readonly guarded: boolean,
    /** Results that recorded functions fill again. */
    reused: readonly Tensor[],
  ) {
    const variables = allVariables();
    const owners = [...variables, ...reused];
    tellApart(backend, owners);
    for (const owner of owners) {
      this.owners.set(owner.dataId, owner);
      if (isShared(owner)) this.unclear.add(owner.dataId);
    }
    for (const variable of variables) this.before.set(variable, variable.dataId);
    const inputs = given.map(({ dataId }) => (dataId as EbbData).handle);
    this.steady = new SteadyValues(inputs, (dataId) => this.owners.has(dataId));
    this.program = backend.runtime.programBegin(inputs, flags);
    backend.runtime.listener = this;
    this.endHearing = heardWhereAway(backend, owners, () => this.read());
    this.lives = new Lives(given, firstId);
    Math.random = () => {
      this.randomCalls++;
      return this.random.call(Math);
    };
    underWay().recording = this;
  }

  /** Nothing is told any more. */
  stop(): void {
    if (recordingUnderWay() !== this) return;
    underWay().recording = undefined;
    this.backend.runtime.listener = undefined;
    Math.random = this.random;
    this.endHearing();
    this.lives.stop();
    if (this.randomCalls > 0) this.refuse('it uses random numbers other than those of dropout');
    if (this.lives.metUnknown) this.refuse('it uses variables that were not made by tf.variable');
  }

  refuse(why: Reason): void {
    this.refusal ||= why;
  }

  // ---- what the backend tells

  used(info: TensorInfo, data: EbbData): void {
    const { handle, shape, dtype } = data;
    this.steady.has(info.dataId, data);
    this.lives.checkKnown(info as unknown as Tensor);
    if (this.seen.has(handle)) return;
    this.usesUnclear ||= this.unclear.has(info.dataId);
    this.seen.set(handle, {
      // Whose it was: a variable may have been given it since, and is not what it comes from.
      owner: this.owners.get(info.dataId) ?? { dataId: info.dataId },
      dtype,
      shape,
      line: this.steady.isOutside(data) ? userLine() : '',
    });
  }

  wrote(handle: number, dtype: number, shape: readonly number[]): void {
    const { runtime } = this.backend;
    const mayBeNoise = dtype === FLOAT32 && this.randomCalls === 1;
    if (mayBeNoise && deepStack().some((line) => DROPOUT.test(line))) {
      this.randomCalls = 0;
      this.noises.push([...shape]);
      this.steady.made([handle], false);
      runtime.programInput(this.program, handle);
    } else {
      this.steady.made([handle], true);
      runtime.programConstant(this.program, handle);
    }
  }

  ran(op: number | undefined, inputs: readonly number[], results: readonly number[]): void {
    this.steady.ran(op, inputs, results);
  }

  read(dataId?: DataId, data?: EbbData): void {
    if (dataId !== undefined && data !== undefined && this.steady.has(dataId, data)) return;
    if (this.guarded && data !== undefined && data.strings === undefined) {
      const info = { dataId: data, shape: data.shape, dtype: data.dtype };
      this.looks.push(runOp(this.backend, 'Identity', [info], {}));
      return;
    }
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[record] "${this.name}" reads the values of a tensor${userLine()}; allowed: functions that look (dataSync, ` +
        'arraySync, data) at no values that may differ from call to call; with `guards: true` those that look at them ' +
        'by dataSync or arraySync.',
    );
  }

  guards(): Guards {
    return new Guards(this.looks.map((data) => valuesOf(this.backend, data)));
  }

  dropLooks(): void {
    this.backend.release(...this.looks.splice(0));
  }

  // ---- what it comes to

  /** Variables that have another value than when it began. */
  assigned(): Variable[] {
    const old = allVariables().filter((each) => this.before.has(each));
    return old.filter((each) => this.before.get(each) !== each.dataId);
  }

  /** Variables may have been given data that the function did not use otherwise. */
  knowData(assigned: readonly Variable[]): void {
    for (const { dataId } of assigned) {
      const { handle, dtype, shape } = dataId as EbbData;
      if (this.seen.has(handle)) continue;
      this.seen.set(handle, {
        owner: this.owners.get(dataId) ?? { dataId },
        dtype,
        shape,
        line: '',
      });
    }
  }

  /** Tells the core what replays replace: the data that these variables had when it began. */
  replaces(assigned: readonly Variable[]): void {
    const owners = new Set<Captured['owner']>(assigned);
    for (const [handle, { owner }] of this.seen) {
      if (owners.has(owner)) this.backend.runtime.programReplaces(this.program, handle);
    }
  }

  /** Those that it used or assigned to, also where the program does not need their values. */
  variables(): Variable[] {
    const owners = Array.from(this.seen.values(), ({ owner }) => owner as Variable);
    return [...new Set([...owners.filter(isVariable), ...this.assigned()])];
  }

  /** Why the next call is one to record, not this one; empty: this one is. */
  whyLater(): MaybeReason {
    const now = allVariables();
    const isOther = now.length !== this.before.size || now.some((each) => !this.before.has(each));
    if (isOther) return 'it made variables, as first steps of optimizers do';
    if (!this.lives.isComplete)
      return 'it was the first to use ebb.tidy, reclaim, trace or the like';
    return this.usesUnclear
      ? 'variables or reused results came from another backend, with data that they share'
      : '';
  }

  /** Why replays would not do all that it did to tensors, once its scope has ended; empty: they would. */
  whyMore(results: readonly Tensor[]): MaybeReason {
    if (this.lives.leftBut(results)) {
      return 'it keeps tensors that it does not return, as stateful layers do';
    }
    return this.lives.endedOthers() ? 'it disposes tensors that it did not make' : '';
  }

  /** What these native tensors belong to; undefined where that is not known of one. */
  captured(handles: readonly number[]): Captured[] | undefined {
    const all = handles.map((handle) => this.seen.get(handle));
    return all.includes(undefined) ? undefined : (all as Captured[]);
  }
}
