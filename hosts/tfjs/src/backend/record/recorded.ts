// `ebb.record(fn)`: a function that remembers what fn did.
import { engine, type Tensor } from '@tensorflow/tfjs-core';
import type { Engine } from '../../engine/tfjs';
import { EbbError } from '../../errors';
import { ofIsolate } from '../../host';
import { EbbBackend } from '../backend';
import { codeOf, EbbData } from '../data';
import type { Runtime } from '../runtime';
import { type Likeness, RecordedProgram } from './program';
import { Recording, recordingUnderWay } from './recording';
import { filled, type Form, formOf, identityOf, keyOf } from './values';

export interface RecordOptions {
  /** For reports and errors; fn's own name otherwise. */
  name?: string;
  /** How many programs are kept, one for each combination of shapes, dtypes and constants. */
  cache?: number;
  /** More that the function depends on: it is recorded again where this gives something else. */
  key?: () => unknown;
  /** What operations make of constants alone is computed once (true), or in each call. */
  fold?: boolean;
  /** On a GPU a replay is one launch; `false`: one for each operation. */
  graphs?: boolean;
}

const MOST_PROGRAMS = 16;
/** So many times a function may make variables, as optimizers do in their first step, before it is left alone. */
const MOST_BEGINNINGS = 3;
const NO_FOLDING = 1;
const NO_GRAPHS = 4;
const BY_NAME = 2;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any function
type Fn = (...args: any[]) => any;

/** How the calls with one key are done. */
type Way = RecordedProgram | { eager: string } | { beginnings: number };

/** What a report says of a function. */
export interface RecordedInfo {
  name: string;
  calls: number;
  /** Calls that were one call of the core. */
  replayed: number;
  /** Times that it was recorded. */
  recorded: number;
  programs: number;
  /** Operations of all of them. */
  operations: number;
  /** Why it was recorded again or run by TensorFlow.js, and how often. */
  reasons: Record<string, number>;
}

/** Everything native that belongs to a function, apart from it: it is freed when the function is gone. */
class Programs {
  private readonly all = new Map<number, Runtime>();
  add(program: number, runtime: Runtime): void {
    this.all.set(program, runtime);
  }
  free(program: number): void {
    this.all.get(program)?.programFree(program);
    this.all.delete(program);
  }
  freeAll(): void {
    for (const program of [...this.all.keys()]) this.free(program);
  }
}

const dropped = new FinalizationRegistry<Programs>((programs) => programs.freeAll());

export class Recorded {
  readonly programs = new Programs();
  private readonly ways = new Map<string, Way>();
  private readonly name: string;
  private readonly most: number;
  private readonly flags: number;
  private calls = 0;
  private replayed = 0;
  private recorded = 0;
  private readonly reasons = new Map<string, number>();

  constructor(
    private readonly fn: Fn,
    private readonly options: RecordOptions,
  ) {
    this.name = options.name ?? (fn.name || 'anonymous');
    this.most = options.cache ?? MOST_PROGRAMS;
    this.flags = BY_NAME;
    if (options.fold === false) this.flags |= NO_FOLDING;
    if (options.graphs === false) this.flags |= NO_GRAPHS;
    dropped.register(this, this.programs);
  }

  info(): RecordedInfo {
    const programs = [...this.ways.values()].filter((way) => way instanceof RecordedProgram);
    return {
      name: this.name,
      calls: this.calls,
      replayed: this.replayed,
      recorded: this.recorded,
      programs: programs.length,
      operations: programs.reduce((sum, { parts }) => sum + parts.steps, 0),
      reasons: Object.fromEntries(this.reasons),
    };
  }

  /** Forgets what it has recorded. */
  dispose(): void {
    this.programs.freeAll();
    this.ways.clear();
  }

  call(receiver: unknown, args: unknown[]): unknown {
    this.calls++;
    const { backend } = engine();
    const without = this.whyEager(backend);
    if (without !== '') return this.eager(receiver, args, without);
    const own = backend as EbbBackend;
    const tensors: Tensor[] = [];
    const form = formOf(args, tensors);
    if (tensors.some(({ dtype }) => dtype === 'string')) {
      return this.eager(receiver, args, 'it was given a tensor of strings');
    }
    const key = this.keyOfCall(own, form, tensors);
    const way = this.ways.get(key);
    if (way instanceof RecordedProgram) {
      const why = way.outdated();
      if (why === '') return this.replay(way, key, tensors, receiver, args);
      this.count(why);
      this.forget(key);
    } else if (way !== undefined && 'eager' in way) {
      return this.eager(receiver, args, way.eager);
    } else if (this.recorded > 0 && way === undefined) {
      this.count('other shapes, dtypes or constants');
    }
    return this.record(own, key, form, tensors, receiver);
  }

  private whyEager(backend: unknown): string {
    if (!(backend instanceof EbbBackend)) return 'another backend was in use';
    if (recordingUnderWay() !== undefined) return 'it was part of another recording';
    return engine().isTapeOn() ? 'a gradient was taken of it' : '';
  }

  private keyOfCall(backend: EbbBackend, form: Form, tensors: readonly Tensor[]): string {
    const more = this.options.key?.();
    const key = `${identityOf(backend)} ${keyOf(form, tensors)}`;
    return more === undefined ? key : `${key} ${keyOf(formOf(more, []), [])}`;
  }

  private count(reason: string): void {
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
  }

  private eager(receiver: unknown, args: unknown[], reason: string): unknown {
    this.count(reason);
    return engine().tidy(this.name, () => this.fn.apply(receiver, args) as never);
  }

  private replay(
    program: RecordedProgram,
    key: string,
    tensors: readonly Tensor[],
    receiver: unknown,
    args: unknown[],
  ): unknown {
    let result: unknown;
    try {
      result = program.run(tensors);
    } catch (error) {
      // A shape that depends on values: nothing has happened yet.
      if ((error as { code?: string }).code !== 'EBB_WRONG_STATE') throw error;
      this.forget(key);
      return this.leaveAlone(key, 'shapes inside depend on values', receiver, args);
    }
    this.replayed++;
    if (this.ways.size > 1) {
      this.ways.delete(key); // to the end: the others are older
      this.ways.set(key, program);
    }
    return result;
  }

  private leaveAlone(key: string, eager: string, receiver: unknown, args: unknown[]): unknown {
    this.ways.set(key, { eager });
    return this.eager(receiver, args, eager);
  }

  private forget(key: string): void {
    const way = this.ways.get(key);
    if (way instanceof RecordedProgram) this.programs.free(way.parts.program);
    this.ways.delete(key);
  }

  private remember(key: string, way: Way): void {
    const [oldest] = this.ways.keys();
    if (this.ways.size >= this.most && oldest !== undefined) this.forget(oldest);
    this.ways.set(key, way);
  }

  // ---- recording

  private record(
    backend: EbbBackend,
    key: string,
    form: Form,
    tensors: readonly Tensor[],
    receiver: unknown,
  ): unknown {
    const tracker = engine();
    const before = tracker.state.numTensors;
    const firstId = (tracker as unknown as Engine).nextTensorId();
    let recording: Recording | undefined;
    tracker.startScope(this.name);
    let result: unknown;
    try {
      // The function gets tensors of its own over the same memory: what it is given and what it has anyway differ,
      // also where that is the same tensor in this call.
      const own = tensors.map((tensor) => aliasOf(backend, tensor));
      const handles = own.map(({ dataId }) => (dataId as EbbData).handle);
      recording = new Recording(backend, this.name, handles, this.flags);
      result = this.fn.apply(receiver, filled(form, own) as unknown[]) as unknown;
      recording.stop();
      this.checkResult(result);
      own.forEach((alias, i) => {
        if (!alias.isDisposed) return;
        recording?.refuse('it disposes what it is given');
        tensors[i]?.dispose();
      });
      this.finish(recording, backend, key, tensors, result);
    } catch (error) {
      recording?.stop();
      if (recording !== undefined) backend.runtime.programFree(recording.program);
      tracker.endScope();
      throw error;
    }
    const made = distinctNew(result, firstId) + recording.madeVariables();
    tracker.endScope(result as never);
    if (tracker.state.numTensors - before > made) this.refuseKept(key);
    return result;
  }

  private checkResult(result: unknown): void {
    if (typeof (result as { then?: unknown } | null | undefined)?.then !== 'function') return;
    throw new EbbError(
      'EBB_UNSUPPORTED',
      `[record] "${this.name}" returns a promise; allowed: functions that are done when they return.`,
    );
  }

  private finish(
    recording: Recording,
    backend: EbbBackend,
    key: string,
    tensors: readonly Tensor[],
    result: unknown,
  ): void {
    const { runtime } = backend;
    const outputs: Tensor[] = [];
    const form = formOf(result, outputs);
    if (outputs.some(({ dataId }) => !isHere(backend, dataId))) {
      recording.refuse('a result is not on the backend');
    }
    if (recording.refusal === '' && recording.changedVariables()) {
      runtime.programFree(recording.program);
      return this.beginAgain(key);
    }
    if (recording.refusal !== '') {
      runtime.programFree(recording.program);
      return this.refuse(key, recording.refusal);
    }
    const assigned = recording.assigned();
    const likes = [...outputs, ...(assigned as unknown as Tensor[])].map(likenessOf);
    const handles = [...outputs, ...assigned].map(({ dataId }) => (dataId as EbbData).handle);
    const [steps, , ...unknowns] = runtime.programEnd(recording.program, handles);
    const captured = recording.captured(unknowns);
    if (captured === undefined) {
      runtime.programFree(recording.program);
      return this.refuse(key, 'it uses data that no tensor was seen of');
    }
    this.programs.add(recording.program, runtime);
    this.recorded++;
    const program = new RecordedProgram(this.name, backend, {
      program: recording.program,
      steps,
      inputs: tensors.map(({ shape }) => shape.slice()),
      noises: recording.noises,
      captured,
      form,
      outputs: likes.slice(0, outputs.length),
      assigned,
      values: likes.slice(outputs.length),
      optimizers: [...recording.optimizers],
    });
    this.remember(key, program);
  }

  private refuse(key: string, why: string): void {
    this.count(why);
    this.remember(key, { eager: why });
  }

  private refuseKept(key: string): void {
    this.forget(key);
    this.refuse(key, 'it keeps tensors that it does not return');
  }

  private beginAgain(key: string): void {
    const way = this.ways.get(key);
    const beginnings = way !== undefined && 'beginnings' in way ? way.beginnings + 1 : 1;
    if (beginnings >= MOST_BEGINNINGS) return this.refuse(key, 'it makes or disposes variables');
    this.count('it made variables, as first steps of optimizers do');
    this.ways.delete(key);
    this.remember(key, { beginnings });
  }
}

function isHere(backend: EbbBackend, dataId: object): boolean {
  return dataId instanceof EbbData && dataId.handle > 0 && dataId.home === backend.home;
}

function aliasOf(backend: EbbBackend, { dataId, shape, dtype }: Tensor): Tensor {
  const { handle } = backend.find(dataId, 'record');
  const data = new EbbData(backend.runtime.view(handle, codeOf(dtype), shape), shape, dtype);
  data.home = backend.home;
  backend.runtime.born++;
  return engine().makeTensorFromTensorInfo({ dataId: data, shape, dtype }, backend);
}

function likenessOf({ dtype, shape, dataId }: Tensor): Likeness {
  return { dtype, shape, native: (dataId as EbbData).shape };
}

/** How many of the result's tensors came with this id or later. */
function distinctNew(result: unknown, firstId: number): number {
  const tensors: Tensor[] = [];
  formOf(result, tensors);
  return new Set(tensors.filter(({ id, isDisposed }) => id >= firstId && !isDisposed)).size;
}

/** All recorded functions of the isolate that are still there. */
const known = (): Set<WeakRef<Recorded>> => ofIsolate('recorded', () => new Set());

export function recordedFunctions(): RecordedInfo[] {
  const all = known();
  const infos: RecordedInfo[] = [];
  for (const reference of all) {
    const recorded = reference.deref();
    if (recorded === undefined) all.delete(reference);
    else infos.push(recorded.info());
  }
  return infos;
}

/** A function that does what fn does: at first through TensorFlow.js, then by one call of the core. */
export function recordFunction<F extends Fn>(fn: F, options: RecordOptions = {}): F {
  const recorded = new Recorded(fn, options);
  known().add(new WeakRef(recorded));
  const call = function (this: unknown, ...args: unknown[]): unknown {
    return recorded.call(this, args);
  };
  return Object.assign(call, {
    info: () => recorded.info(),
    dispose: () => recorded.dispose(),
  }) as unknown as F;
}
