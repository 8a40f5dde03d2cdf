// `ebb.record(fn)`: a function that remembers what fn did.
import { engine, type Tensor, type Variable } from '@tensorflow/tfjs-core';
import type { Engine } from '../../engine/tfjs';
import { EbbBackend } from '../backend';
import type { EbbData } from '../data';
import { formOfArguments, handedOn } from './arguments';
import { Circumstances, followed } from './circumstances';
import { OtherValues } from './guards';
import { allReused, makeKnown, Programs, type RecordedInfo, tellReuse } from './known';
import { Compared, LastCall } from './last_call';
import { flagsOf, mayOverwrite, type RecordOptions } from './options';
import { RecordedProgram } from './program';
import type { MaybeReason, Reason } from './reasons';
import { Recording, recordingUnderWay } from './recording';
import { formOfResult, keptOf } from './results';
import { aliasOf, isHere, likenessOf, ownResults } from './tensors';
import { type Form, identityOf, keyOf, keyOfReceiver } from './values';

const MOST_PROGRAMS = 16;
/** So many times a function may make variables, as optimizers do in their first step, before it is left alone. */
const MOST_BEGINNINGS = 3;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any function
export type Fn = (...args: any[]) => any;

/** A call that is recorded. */
interface Call {
  receiver: unknown;
  args: unknown[];
  tensors: readonly Tensor[];
  form: Form;
}

/** What the recorded call returned. */
interface Result {
  form: Form;
  outputs: readonly Tensor[];
  /** Which of these it kept. */
  kept: number[];
}

/** How the calls with one key are done. */
type Way = RecordedProgram[] | { eager: Reason } | { beginnings: number };

export class Recorded {
  readonly programs = new Programs();
  private readonly ways = new Map<string, Way>();
  private readonly reference = makeKnown(this);
  private name = '';
  private most = MOST_PROGRAMS;
  private flags = 0;
  private guarded = false;
  private calls = 0;
  private replayed = 0;
  private recorded = 0;
  private readonly reasons = new Map<Reason, number>();
  private last: LastCall | undefined;

  constructor(
    private readonly fn: Fn,
    private options: RecordOptions,
  ) {
    this.set(options);
  }

  /** From now on these; what it has recorded is forgotten. */
  set(options: RecordOptions): void {
    this.dispose();
    this.options = options;
    this.name = options.name ?? (this.fn.name || 'anonymous');
    this.most = options.cache ?? MOST_PROGRAMS;
    this.flags = flagsOf(options);
    this.guarded = options.guards === true;
    tellReuse(this.reference, options.reuse === true);
  }

  info(): RecordedInfo {
    const programs = this.recordings();
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

  /** Results that its calls fill again. */
  reused(): Tensor[] {
    return this.recordings().flatMap((each) => each.results());
  }

  private recordings(): RecordedProgram[] {
    return [...this.ways.values()].flatMap((way) => (Array.isArray(way) ? way : []));
  }

  /** Forgets what it has recorded. */
  dispose(): void {
    for (const program of this.recordings()) program.dispose();
    this.programs.freeAll();
    this.ways.clear();
    this.last = undefined;
  }

  call(receiver: unknown, args: unknown[]): unknown {
    this.calls++;
    const { backend } = engine();
    const without = this.whyEager(backend);
    if (without !== '') return this.eager(receiver, args, without);
    const own = backend as EbbBackend;
    const compared = new Compared(own, receiver, args);
    const tensors = this.last?.tensorsOf(compared) ?? this.learn(compared);
    const last = this.last as LastCall;
    if (last.hasStrings) {
      return this.eager(receiver, args, 'it was given a tensor of strings');
    }
    const key = last.keyWith(this.options.key?.());
    const way = this.ways.get(key);
    if (Array.isArray(way)) {
      const why = whyOutdated(way);
      const done = why === '' ? this.replay(way, key, tensors, receiver, args) : undefined;
      if (done !== undefined) return done.result;
      if (why !== '') this.forget(key);
      this.count(why || 'values that it looks at were others');
    } else if (way !== undefined && 'eager' in way) {
      return this.eager(receiver, args, way.eager);
    } else if (this.recorded > 0 && way === undefined) {
      this.count('other shapes, dtypes or constants');
    }
    return this.record(own, key, { receiver, args, tensors, form: last.form });
  }

  private whyEager(backend: unknown): MaybeReason {
    if (!(backend instanceof EbbBackend)) return 'another backend was in use';
    if (recordingUnderWay() !== undefined) return 'it was part of another recording';
    return engine().isTapeOn() ? 'a gradient was taken of it' : '';
  }

  /** The tensors of a call that is not like the last. */
  private learn(call: Compared): Tensor[] {
    const { backend, receiver, args } = call;
    const tensors: Tensor[] = [];
    const form = formOfArguments(args, tensors, call.rest());
    const key = `${identityOf(backend)} ${keyOfReceiver(receiver)} ${keyOf(form, tensors)}`;
    this.last = new LastCall(backend, receiver, key, form, tensors);
    return tensors;
  }

  private count(reason: Reason): void {
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
  }

  private eager(receiver: unknown, args: unknown[], reason: Reason): unknown {
    this.count(reason);
    return engine().tidy(this.name, () => this.fn.apply(receiver, args) as never);
  }

  /** Undefined: in none of them it looked at what it would look at now. Any other error is the call's. */
  private replay(
    programs: RecordedProgram[],
    key: string,
    tensors: readonly Tensor[],
    receiver: unknown,
    args: unknown[],
  ): { result: unknown } | undefined {
    let program = programs[0] as RecordedProgram | undefined;
    const tried: RecordedProgram[] = [];
    while (program !== undefined) {
      try {
        const result = program.run(tensors);
        this.used(key, programs, program);
        return { result };
      } catch (error) {
        if (error instanceof OtherValues) {
          tried.push(program);
          program = programs.find(
            (each) => !tried.includes(each) && each.parts.guards.agree(error),
          );
          continue;
        }
        // A shape that depends on values: nothing has happened yet.
        if ((error as { code?: string }).code !== 'EBB_WRONG_STATE') throw error;
        this.forget(key);
        const why = 'shapes inside depend on values';
        return { result: this.leaveAlone(key, why, receiver, args) };
      }
    }
    return undefined;
  }

  /** The ones that were used last are found first, and go last. */
  private used(key: string, programs: RecordedProgram[], program: RecordedProgram): void {
    this.replayed++;
    if (programs[0] !== program) {
      programs.splice(programs.indexOf(program), 1);
      programs.unshift(program);
    }
    if (this.ways.size > 1) {
      this.ways.delete(key);
      this.ways.set(key, programs);
    }
  }

  private leaveAlone(key: string, eager: Reason, receiver: unknown, args: unknown[]): unknown {
    this.ways.set(key, { eager });
    return this.eager(receiver, args, eager);
  }

  private forget(key: string): void {
    const way = this.ways.get(key);
    if (Array.isArray(way)) way.forEach((program) => this.free(program));
    this.ways.delete(key);
  }

  private free(program: RecordedProgram): void {
    program.dispose();
    this.programs.free(program.parts.program);
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
    { receiver, args, tensors, form }: Call,
  ): unknown {
    const tracker = engine();
    const firstId = (tracker as unknown as Engine).nextTensorId();
    let recording: Recording | undefined;
    tracker.startScope(this.name);
    let result: unknown;
    const outputs: Tensor[] = [];
    try {
      // The function gets tensors of its own over the same memory: what it is given and what it has anyway differ,
      // also where that is the same tensor in this call.
      const own = tensors.map((tensor) => aliasOf(backend, tensor));
      const { name, flags, guarded } = this;
      recording = new Recording(backend, name, own, firstId, flags, guarded, allReused());
      result = this.fn.apply(receiver, handedOn(form, args, own)) as unknown;
      recording.stop();
      const resultForm = formOfResult(this.name, result, outputs);
      own.forEach((alias, i) => {
        if (!alias.isDisposed) return;
        recording?.refuse('it disposes what it is given');
        tensors[i]?.dispose();
      });
      this.finish(recording, backend, key, tensors, {
        form: resultForm,
        outputs,
        kept: keptOf(outputs, firstId),
      });
    } catch (error) {
      recording?.stop();
      recording?.dropLooks();
      if (recording !== undefined) backend.runtime.programFree(recording.program);
      tracker.endScope();
      throw error;
    }
    recording.dropLooks();
    tracker.endScope(result as never);
    const [program] = this.recordingsWith(key);
    if (program === undefined) return result;
    const why = recording.whyMore(outputs) || program.whyBroken();
    if (why === '') program.adopt(ownResults(outputs, firstId));
    else this.refuse(key, why);
    return result;
  }

  private recordingsWith(key: string): RecordedProgram[] {
    const way = this.ways.get(key);
    return Array.isArray(way) ? way : [];
  }

  private finish(
    recording: Recording,
    backend: EbbBackend,
    key: string,
    tensors: readonly Tensor[],
    { form, outputs, kept }: Result,
  ): void {
    const { runtime } = backend;
    if (outputs.some(({ dataId }) => !isHere(backend, dataId))) {
      recording.refuse('a result is not on the backend');
    }
    const assigned = recording.assigned();
    if (assigned.some(({ dataId }) => !isHere(backend, dataId))) {
      recording.refuse('it assigns to a variable what is not on the backend');
    }
    const later = recording.whyLater();
    if (recording.refusal === '' && later !== '') {
      runtime.programFree(recording.program);
      return this.beginAgain(key, later);
    }
    if (recording.refusal !== '') {
      runtime.programFree(recording.program);
      return this.refuse(key, recording.refusal);
    }
    const guards = recording.guards();
    const { optimizers } = recording.optimizers;
    const variables = recording.variables() as unknown as Variable[];
    const likes = [...outputs, ...(assigned as unknown as Tensor[])].map(likenessOf);
    const looks = recording.looks.map(({ dtype, shape }) => ({ dtype, shape, native: shape }));
    const handles = [...outputs, ...assigned].map(({ dataId }) => (dataId as EbbData).handle);
    handles.push(...recording.looks.map(({ handle }) => handle));
    recording.knowData(assigned);
    recording.replaces(assigned);
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
      captured: followed(captured, optimizers),
      form,
      outputs: likes.slice(0, outputs.length),
      kept,
      assigned,
      values: likes.slice(outputs.length),
      counted: recording.optimizers,
      circumstances: new Circumstances(optimizers, variables),
      guards,
      looks,
      reuse: this.options.reuse === true,
      overwrites: optimizers.length > 0 && mayOverwrite(this.options),
    });
    const way = this.ways.get(key);
    if (Array.isArray(way)) this.addTo(way, program);
    else this.remember(key, [program]);
  }

  /** One more for calls that are alike but for what is looked at. */
  private addTo(programs: RecordedProgram[], program: RecordedProgram): void {
    if (programs.length >= this.most) this.free(programs.pop() as RecordedProgram);
    programs.unshift(program);
  }

  private refuse(key: string, why: Reason): void {
    this.forget(key);
    this.count(why);
    this.remember(key, { eager: why });
  }

  private beginAgain(key: string, why: Reason): void {
    const way = this.ways.get(key);
    const beginnings = way !== undefined && 'beginnings' in way ? way.beginnings + 1 : 1;
    if (beginnings >= MOST_BEGINNINGS) return this.refuse(key, 'it makes or disposes variables');
    this.forget(key);
    this.count(why);
    this.remember(key, { beginnings });
  }
}

/** Why they are not what the function would do now; empty: they are. */
function whyOutdated(programs: readonly RecordedProgram[]): MaybeReason {
  for (let i = 0; i < programs.length; i++) {
    const why = (programs[i] as RecordedProgram).outdated();
    if (why !== '') return why;
  }
  return '';
}
