// Calling the core's operations: one crossing each, arguments and results in arrays that both sides share
// (addon/runtime.hpp says what lies where).
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { EbbError } from '../errors';
import { MOST_AXES, native as addon } from '../native';
import { DTYPES, EbbData } from './data';

const enum Head {
  Op,
  Inputs,
  Views,
  Attributes,
  Results,
  Frees,
  Size,
}
/** Of a result and of a view: handle or input, dtype, rank, sizes. */
const RESULT_SIZE = 3 + MOST_AXES;
const FREES = 256;
/** Data of this many bytes goes back at once, instead of with the next operation. */
const LARGE = 1 << 20;

/** The addon's functions for the runtime. */
export interface NativeRuntime {
  openRuntime(
    head: Float64Array,
    inputs: Float64Array,
    views: Float64Array,
    attributes: Float64Array,
    results: Float64Array,
    frees: Float64Array,
  ): void;
  run(): void;
  endFreed(): void;
  write(dtype: number, shape: readonly number[], values: ArrayBufferView): number;
  read(handle: number, into: ArrayBufferView): void;
  tableHash(): number;
  runtimeDevice(): number;
}

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

export class Runtime {
  private readonly head = new Float64Array(Head.Size);
  private inputs = new Float64Array(64);
  private views = new Float64Array(64 * RESULT_SIZE);
  private attributes = new Float64Array(256);
  private results = new Float64Array(64 * RESULT_SIZE);
  private readonly frees = new Float64Array(FREES);
  private inputCount = 0;
  private viewCount = 0;
  private attributeCount = 0;
  /** How many pieces of data operations have made. */
  born = 0;

  constructor(readonly native = addon() as unknown as NativeRuntime) {
    this.share();
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
    const at = this.viewCount++ * RESULT_SIZE;
    views[at] = this.inputCount - 1;
    views[at + 1] = dtype;
    views[at + 2] = rank;
    for (let i = 0; i < rank; i++) views[at + 3 + i] = shape[i] as number;
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

  /** Makes room for an operation with this many results. */
  expect(results: number): void {
    if (results * RESULT_SIZE <= this.results.length) return;
    this.results = new Float64Array(results * 2 * RESULT_SIZE);
    this.share();
  }

  one(op: number): EbbData {
    this.call(op, 1);
    return this.result(0);
  }

  many(op: number): EbbData[] {
    this.call(op, this.results.length / RESULT_SIZE);
    const count = this.head[Head.Results] as number;
    const all: EbbData[] = [];
    for (let i = 0; i < count; i++) all.push(this.result(i));
    return all;
  }

  write(dtype: number, shape: readonly number[], values: ArrayBufferView): number {
    return this.native.write(dtype, shape, values);
  }

  read(handle: number, into: ArrayBufferView): void {
    this.native.read(handle, into);
  }

  /** Ends a tensor: with the next operation, or now if it is large. */
  free(handle: number, bytes: number): void {
    const { head } = this;
    let count = head[Head.Frees] as number;
    this.frees[count++] = handle;
    head[Head.Frees] = count;
    if (count === FREES || bytes >= LARGE) this.native.endFreed();
  }

  endFreed(): void {
    this.native.endFreed();
  }

  private call(op: number, room: number): void {
    const { head } = this;
    head[Head.Op] = op;
    head[Head.Inputs] = this.inputCount;
    head[Head.Views] = this.viewCount;
    head[Head.Attributes] = this.attributeCount;
    head[Head.Results] = room;
    this.native.run();
  }

  protected result(index: number): EbbData {
    const { results } = this;
    const at = index * RESULT_SIZE;
    this.born++;
    return new EbbData(
      results[at] as number,
      shapeIn(results, at + 2),
      DTYPES[results[at + 1] as number] as TensorInfo['dtype'],
    );
  }

  private share(): void {
    const { head, inputs, views, attributes, results, frees } = this;
    this.native.openRuntime(head, inputs, views, attributes, results, frees);
  }
}
