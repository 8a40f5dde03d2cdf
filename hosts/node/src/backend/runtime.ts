// Calling the core's operations: one crossing each, arguments and results in arrays that both sides share
// (addon/runtime.hpp says what lies where).
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { native as addon } from '../native';
import { DTYPES, EbbData } from './data';

const enum Head {
  Op,
  Inputs,
  Attributes,
  Results,
  Frees,
  Size,
}
const RESULT_SIZE = 11;
const FREES = 256;
/** Data of this many bytes goes back at once, instead of with the next operation. */
const LARGE = 1 << 20;

/** The addon's functions for the runtime. */
export interface NativeRuntime {
  openRuntime(
    head: Float64Array,
    inputs: Float64Array,
    attributes: Float64Array,
    results: Float64Array,
    frees: Float64Array,
  ): void;
  run(): void;
  endFreed(): void;
  write(dtype: number, shape: readonly number[], values: ArrayBufferView): number;
  read(handle: number, into: ArrayBufferView): void;
  view(handle: number, shape: readonly number[]): number;
  tableHash(): number;
  runtimeDevice(): number;
}

export class Runtime {
  private readonly head = new Float64Array(Head.Size);
  private inputs = new Float64Array(64);
  private attributes = new Float64Array(256);
  private results = new Float64Array(64 * RESULT_SIZE);
  private readonly frees = new Float64Array(FREES);
  private inputCount = 0;
  private attributeCount = 0;

  /** `born` is told of each piece of data that an operation makes. */
  constructor(
    private readonly born: () => void,
    readonly native = addon() as unknown as NativeRuntime,
  ) {
    this.share();
  }

  begin(): void {
    this.inputCount = 0;
    this.attributeCount = 0;
  }

  input(handle: number): void {
    if (this.inputCount === this.inputs.length) {
      const wider = new Float64Array(this.inputs.length * 4);
      wider.set(this.inputs);
      this.inputs = wider;
      this.share();
    }
    this.inputs[this.inputCount++] = handle;
  }

  number(value: number): void {
    if (this.attributeCount === this.attributes.length) {
      const wider = new Float64Array(this.attributes.length * 4);
      wider.set(this.attributes);
      this.attributes = wider;
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

  /** Another tensor over the same memory. May be called between an operation's operands. */
  view(handle: number, shape: readonly number[]): number {
    return this.native.view(handle, shape);
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
    head[Head.Attributes] = this.attributeCount;
    head[Head.Results] = room;
    this.native.run();
  }

  protected result(index: number): EbbData {
    const { results } = this;
    const at = index * RESULT_SIZE;
    const rank = results[at + 2] as number;
    const shape: number[] = [];
    for (let i = 0; i < rank; i++) shape.push(results[at + 3 + i] as number);
    this.born();
    return new EbbData(
      results[at] as number,
      shape,
      DTYPES[results[at + 1] as number] as TensorInfo['dtype'],
    );
  }

  private share(): void {
    this.native.openRuntime(this.head, this.inputs, this.attributes, this.results, this.frees);
  }
}
