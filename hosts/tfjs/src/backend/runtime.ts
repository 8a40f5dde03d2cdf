// Calling the core's operations: one crossing each, arguments and results in arrays that both sides share
// (addon/runtime.hpp says what lies where).
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { world } from '../books/world';
import { EbbError } from '../errors';
import type { DataId } from '../engine/tfjs';
import { host, type HostRuntime } from '../host';
import { Head, MOST_AXES, Result } from '../shared';
import { DTYPES, EbbData } from './data';
import { SmallValues } from './small_values';

function widened(array: Float64Array): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(array.length * 4);
  wider.set(array);
  return wider;
}

/** As a small integer where it is one: arrays of those are what V8 is best at. */
const whole = (size: number): number => ((size | 0) === size ? size | 0 : size);

/** The shape whose rank lies at `at`. Literals make arrays of just that length. */
function shapeIn(results: Float64Array, at: number): number[] {
  const rank = results[at] as number;
  if (rank === 0) return [];
  const a = whole(results[at + 1] as number);
  if (rank === 1) return [a];
  const b = whole(results[at + 2] as number);
  switch (rank) {
    case 2:
      return [a, b];
    case 3:
      return [a, b, whole(results[at + 3] as number)];
    case 4:
      return [a, b, whole(results[at + 3] as number), whole(results[at + 4] as number)];
    default:
      return Array.from(results.subarray(at + 1, at + 1 + rank), whole);
  }
}

/** Who hears what a function does that is being recorded (record/recording.ts). */
export interface Listener {
  /** An operand of an operation. */
  used(info: TensorInfo, data: EbbData): void;
  /** Values came from JavaScript. */
  wrote(handle: number, dtype: number, shape: readonly number[]): void;
  /** An operation has run; without one, gradients were taken. */
  ran(op: number | undefined, inputs: readonly number[], results: readonly number[]): void;
  /** Values are about to go there: those of this data at once, or some later. */
  read(dataId?: DataId, data?: EbbData): void;
}

/** What the addon has for recorded programs (addon/programs.cc). */
interface HostPrograms {
  programBegin(flags: number): number;
  programInput(program: number, handle: number): void;
  programConstant(program: number, handle: number): void;
  programReplaces(program: number, handle: number): void;
  programEnd(program: number): number[];
  programRun(program: number): void;
  programRunPartly(program: number): void;
  programFree(program: number): void;
}

/** And for the tape (addon/tape.cc). */
interface HostTape {
  tapeOpen(): void;
  tapeBackward(): void;
  tapeClose(): void;
}

/** More tensors than can live at once. */
const MOST_RESULTS = 2 ** 24;

export class Runtime {
  private readonly world = world();
  private readonly functions: HostRuntime & HostPrograms & HostTape;
  private readonly head = new Float64Array(Head.HeadSize);
  private inputs = new Float64Array(64);
  private views = new Float64Array(64 * Result.ResultSize);
  private attributes = new Float64Array(256);
  private results = new Float64Array(64 * Result.ResultSize);
  private readonly small = new SmallValues();
  private inputCount = 0;
  private viewCount = 0;
  private attributeCount = 0;
  /** How many pieces of data operations have made. */
  born = 0;
  listener: Listener | undefined = undefined;

  constructor(device: string) {
    this.functions = host().runtime(device) as HostRuntime & HostPrograms & HostTape;
    this.share();
  }

  get device(): number {
    return this.functions.device;
  }

  begin(): void {
    this.inputCount = 0;
    this.viewCount = 0;
    this.attributeCount = 0;
  }

  input(handle: number): void {
    if (this.inputCount === this.inputs.length) {
      this.inputs = widened(this.inputs);
      this.views = widened(this.views);
      this.share();
    }
    this.inputs[this.inputCount++] = handle;
  }

  /** An input that the operation is to see in this shape, of as many elements. */
  inputAs(handle: number, dtype: number, shape: readonly number[]): void {
    const rank = shape.length;
    if (rank > MOST_AXES) {
      throw new EbbError(
        'EBB_INVALID_ARGUMENT',
        `[tensor] Received ${rank} axes; allowed: at most ${MOST_AXES}.`,
      );
    }
    this.input(handle);
    const { views } = this;
    const at = this.viewCount++ * Result.ResultSize;
    views[at + Result.Handle] = this.inputCount - 1;
    views[at + Result.ResultDtype] = dtype;
    views[at + Result.ResultRank] = rank;
    for (let i = 0; i < rank; i++) views[at + Result.Sizes + i] = shape[i] as number;
  }

  number(value: number): void {
    if (this.attributeCount === this.attributes.length) {
      this.attributes = widened(this.attributes);
      this.share();
    }
    this.attributes[this.attributeCount++] = value;
  }

  list(values: ArrayLike<number>): void {
    this.number(values.length);
    for (let i = 0; i < values.length; i++) this.number(values[i] as number);
  }

  /** Makes room for an operation with this many results, if it is a number of results: the operation says what is wrong. */
  expect(results: number): void {
    if (!(results * Result.ResultSize > this.results.length) || results > MOST_RESULTS) return;
    this.results = new Float64Array(results * 2 * Result.ResultSize);
    this.share();
  }

  one(op: number): EbbData {
    this.call(op, 1);
    return this.result(0);
  }

  many(op: number): EbbData[] {
    this.call(op, this.results.length / Result.ResultSize);
    const count = this.head[Head.Results] as number;
    const all: EbbData[] = [];
    for (let i = 0; i < count; i++) all.push(this.result(i));
    return all;
  }

  write(dtype: number, shape: readonly number[], values: ArrayBufferView): number {
    const { small, functions } = this;
    const handle =
      small.fits(values) && small.put(values)
        ? functions.writeSmall(dtype, shape, values.byteLength)
        : functions.write(dtype, shape, values);
    this.listener?.wrote(handle, dtype, shape);
    return handle;
  }

  view(handle: number, dtype: number, shape: readonly number[]): number {
    const made = this.functions.view(handle, dtype, shape);
    this.listener?.wrote(made, dtype, shape);
    return made;
  }

  read(handle: number, into: ArrayBufferView): void {
    const { small, functions } = this;
    if (small.fits(into)) {
      functions.readSmall(handle, into.byteLength);
      if (small.take(into)) return;
    }
    functions.read(handle, into);
  }

  /** Fills the array when the device has come so far; nothing waits meanwhile. */
  async readLater(handle: number, into: ArrayBufferView): Promise<void> {
    const { functions } = this;
    this.listener?.read();
    const read = functions.readBegin(handle);
    try {
      for (let polls = 0; functions.readPoll(read) === 0; polls++) await nextRound(polls);
      functions.readEnd(read, into);
    } catch (error) {
      functions.readDrop(read);
      throw error;
    }
  }

  /** Ends data: with the next operation, or now if it is large. */
  end(data: EbbData, bytes: number): void {
    if (data.slot < 0) {
      this.endHandle(data.handle, bytes);
    } else {
      this.world.endSlot(data.slot, bytes);
      data.slot = -1;
      data.first = undefined;
    }
    data.handle = 0;
  }

  endHandle(handle: number, bytes: number): void {
    this.world.end(handle, bytes);
  }

  // ---- recorded programs

  /** From now on operations are noted. */
  programBegin(inputs: readonly number[], flags: number): number {
    this.giveAll(inputs);
    return this.functions.programBegin(flags);
  }

  programInput(program: number, handle: number): void {
    this.functions.programInput(program, handle);
  }

  programConstant(program: number, handle: number): void {
    this.functions.programConstant(program, handle);
  }

  /** What is given in this one's place is replaced by a result after each run. */
  programReplaces(program: number, handle: number): void {
    this.functions.programReplaces(program, handle);
  }

  /** Ends the recording: how many steps and constants it has, and the handles of what was captured. */
  programEnd(program: number, outputs: readonly number[]): [number, number, ...number[]] {
    this.giveAll(outputs);
    return this.functions.programEnd(program) as [number, number, ...number[]];
  }

  /** Runs it on the inputs that were passed since begin(): the handles of so many results. */
  programRun(program: number, count: number): number[] {
    this.expect(count);
    this.setHead(0, count);
    this.functions.programRun(program);
    return this.handlesOf(count);
  }

  /** The same operations up to the first that fails or needs a tensor that was passed as 0: 0 for what is not made. */
  programRunPartly(program: number, count: number): number[] {
    this.expect(count);
    this.setHead(0, count);
    this.functions.programRunPartly(program);
    return this.handlesOf(count);
  }

  private handlesOf(count: number): number[] {
    const handles: number[] = [];
    for (let i = 0; i < count; i++) handles.push(this.resultHandle(i));
    return handles;
  }

  resultHandle(index: number): number {
    return this.results[index * Result.ResultSize + Result.Handle] as number;
  }

  programFree(program: number): void {
    this.functions.programFree(program);
  }

  // ---- the tape

  /** From now on operations on these, and on what depends on them, are noted. */
  tapeOpen(watched: readonly number[]): void {
    this.giveAll(watched);
    this.functions.tapeOpen();
  }

  /**
   * Passed since begin(): y, what its gradient begins with or 0, and the watched tensors of which gradients are wanted.
   * `resultHandle` has those, 0 where there is none.
   */
  tapeBackward(): void {
    this.expect(this.inputCount);
    this.setHead(0, 0);
    this.functions.tapeBackward();
    if (this.listener !== undefined) this.tell(undefined, this.inputCount);
  }

  tapeClose(): void {
    this.functions.tapeClose();
  }

  private giveAll(handles: readonly number[]): void {
    this.begin();
    for (const handle of handles) this.input(handle);
    this.setHead(0, 0);
  }

  private setHead(op: number, room: number): void {
    const { head } = this;
    head[Head.Op] = op;
    head[Head.Inputs] = this.inputCount;
    head[Head.Views] = this.viewCount;
    head[Head.Attributes] = this.attributeCount;
    head[Head.Results] = room;
  }

  private call(op: number, room: number): void {
    this.setHead(op, room);
    this.functions.run();
    if (this.listener !== undefined) this.tell(op, this.head[Head.Results] as number);
  }

  private tell(op: number | undefined, count: number): void {
    const inputs = Array.from(this.inputs.subarray(0, this.inputCount));
    const results = Array.from({ length: count }, (_, i) => this.resultHandle(i));
    this.listener?.ran(op, inputs, results);
  }

  protected result(index: number): EbbData {
    const { results } = this;
    const at = index * Result.ResultSize;
    this.born++;
    return new EbbData(
      results[at + Result.Handle] as number,
      shapeIn(results, at + Result.ResultRank),
      DTYPES[results[at + Result.ResultDtype] as number] as TensorInfo['dtype'],
    );
  }

  private share(): void {
    const { head, inputs, views, attributes, results, small } = this;
    this.functions.share(head, inputs, views, attributes, results, small.memory);
  }
}

/** So many times a read is looked at in the very next round of the loop; then once in a millisecond. */
const EAGER_POLLS = 64;

function nextRound(polls: number): Promise<void> {
  return new Promise((resolve) => {
    if (polls < EAGER_POLLS) setImmediate(resolve);
    else setTimeout(resolve, 1);
  });
}
