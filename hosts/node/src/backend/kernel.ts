// From a kernel of TensorFlow.js to an operation of the core. Both have the same name, and mostly the same
// attributes; a recipe says in which order the operands go, and computes what is not there by name.
import type { DataType, KernelFunc, NamedAttrMap, TensorInfo } from '@tensorflow/tfjs-core';
import type { EbbBackend } from './backend';
import { codeOf, type EbbData } from './data';
import { ATTRIBUTES, type AttributeType, Op, type OpName } from './table';

export type { OpName };
/** A name that ends in '?' may be missing, one that ends in '*' is a list of tensors. */
export type Operands = readonly string[];
export type Inputs = Record<string, TensorInfo>;
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- attributes are whatever the kernel has
export type Attributes = Record<string, any>;
export type Prepare = (attributes: Attributes, inputs: Inputs) => Attributes;

export interface Params {
  inputs: Inputs;
  attrs: Attributes;
  backend: EbbBackend;
}
export type Kernel = (params: Params) => TensorInfo | TensorInfo[];

type Encode = (backend: EbbBackend, attributes: Attributes) => void;

/** Text stays in JavaScript, so the words of an attribute are numbers to the core. */
const WORDS: Record<string, Record<string, number>> = {
  method: { bilinear: 0, nearest: 1 },
  mode: { reflect: 0, symmetric: 1 },
  interpolation: { nearest: 0, bilinear: 1 },
  fillMode: { constant: 0, reflect: 1, wrap: 2, nearest: 3 },
  activation: { linear: 0, relu: 1, relu6: 2, elu: 3, prelu: 4, leakyrelu: 5, sigmoid: 6 },
};

function encoder(op: OpName, name: string, type: AttributeType): Encode {
  switch (type) {
    case 'integers':
    case 'numbers':
      return ({ runtime }, attributes) => {
        const value = attributes[name] as number | number[];
        runtime.list(typeof value === 'number' ? [value] : value);
      };
    case 'boolean':
      return ({ runtime }, attributes) => runtime.number(attributes[name] ? 1 : 0);
    case 'dtype':
      return ({ runtime }, attributes) => runtime.number(codeOf(attributes[name] as DataType));
    default: {
      const words = WORDS[name];
      return ({ runtime }, attributes) => {
        const value = (attributes[name] ?? 0) as number | string;
        if (typeof value === 'number') runtime.number(value);
        else runtime.number(wordOf(op, name, words ?? {}, value));
      };
    }
  }
}

function wordOf(op: OpName, name: string, words: Record<string, number>, word: string): number {
  const code = words[word];
  if (code !== undefined) return code;
  throw new Error(
    `[${op}] Received ${name} ${word}; allowed: ${Object.keys(words).join(', ') || 'a number'}.`,
  );
}

function encoders(op: OpName): Encode[] {
  return ATTRIBUTES[op].map(([name, type]) => encoder(op, name, type));
}

/** One operand, no attributes. */
export function unary(op: OpName, operand = 'x'): Kernel {
  const id = Op[op];
  return ({ inputs, backend }) => {
    const handle = backend.handle(inputs[operand] as TensorInfo, op);
    const { runtime } = backend;
    runtime.begin();
    runtime.input(handle);
    return runtime.one(id);
  };
}

/** Two operands, no attributes. */
export function binary(op: OpName, first = 'a', second = 'b'): Kernel {
  const id = Op[op];
  return ({ inputs, backend }) => {
    const a = backend.handle(inputs[first] as TensorInfo, op);
    const b = backend.handle(inputs[second] as TensorInfo, op);
    const { runtime } = backend;
    runtime.begin();
    runtime.input(a);
    runtime.input(b);
    return runtime.one(id);
  };
}

function encodeOperands(backend: EbbBackend, op: OpName, operands: Operands, inputs: Inputs): void {
  const { runtime } = backend;
  for (const name of operands) {
    const kind = name.at(-1);
    if (kind === '*') {
      const list = (
        name === '*' ? Object.values(inputs) : inputs[name.slice(0, -1)]
      ) as TensorInfo[];
      for (const one of list) runtime.input(backend.handle(one, op));
    } else if (kind === '?') {
      const given = inputs[name.slice(0, -1)];
      runtime.input(given == null ? 0 : backend.handle(given, op));
    } else {
      runtime.input(backend.handle(inputs[name] as TensorInfo, op));
    }
  }
}

/** Runs an operation: its results. */
export function runOp(
  backend: EbbBackend,
  op: OpName,
  operands: readonly TensorInfo[],
  attributes: Attributes = {},
): EbbData {
  const { runtime } = backend;
  runtime.begin();
  for (const operand of operands) runtime.input(backend.handle(operand, op));
  for (const encode of encodersOf(op)) encode(backend, attributes);
  return runtime.one(Op[op]);
}

const known = new Map<OpName, Encode[]>();
function encodersOf(op: OpName): Encode[] {
  let found = known.get(op);
  if (found === undefined) known.set(op, (found = encoders(op)));
  return found;
}

const unchanged: Prepare = (attributes) => attributes;

/** Any operation with one result. */
export function op(name: OpName, operands: Operands, prepare: Prepare = unchanged): Kernel {
  const id = Op[name];
  const encode = encodersOf(name);
  return ({ inputs, attrs, backend }) => {
    const attributes = prepare(attrs, inputs);
    backend.runtime.begin();
    encodeOperands(backend, name, operands, inputs);
    for (let i = 0; i < encode.length; i++) (encode[i] as Encode)(backend, attributes);
    return backend.runtime.one(id);
  };
}

/** Any operation with several results; `count` says how many where it is not a handful. */
export function manyOp(
  name: OpName,
  operands: Operands,
  prepare: Prepare = unchanged,
  count?: (attributes: Attributes, inputs: Inputs) => number,
): Kernel {
  const id = Op[name];
  const encode = encodersOf(name);
  return ({ inputs, attrs, backend }) => {
    const attributes = prepare(attrs, inputs);
    if (count !== undefined) backend.runtime.expect(count(attributes, inputs));
    backend.runtime.begin();
    encodeOperands(backend, name, operands, inputs);
    for (let i = 0; i < encode.length; i++) (encode[i] as Encode)(backend, attributes);
    return backend.runtime.many(id);
  };
}

/** As TensorFlow.js's registry has them. */
export function asKernelFunc(kernel: Kernel): KernelFunc {
  return kernel as unknown as KernelFunc;
}

export type { NamedAttrMap };
