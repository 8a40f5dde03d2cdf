// From a kernel of TensorFlow.js to an operation of the core. Both have the same name, and mostly the same
// attributes; a recipe says in which order the operands go, and computes what is not there by name.
import type { DataType, KernelFunc, NamedAttrMap, TensorInfo } from '@tensorflow/tfjs-core';
import type { EbbBackend } from './backend';
import { codeOf, type EbbData } from './data';
import { ATTRIBUTES, type AttributeSpec, INPUTS, Op, type OpName } from './table';

export type { OpName };
/**
 * Those of the table: a name that ends in '?' may be missing, one that ends in '*' is a list of tensors (all inputs,
 * if none has the name). One that ends in '[]' is of matrices, a leading axis of one more or less.
 */
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

function encoder(op: OpName, attribute: AttributeSpec): Encode {
  const { name, type, fallback, words } = attribute;
  switch (type) {
    case 'integers':
    case 'numbers':
      return ({ runtime }, attributes) => {
        const value = (attributes[name] ?? fallback) as number | number[] | string[];
        if (typeof value === 'number') runtime.list([value]);
        else if (words === undefined) runtime.list(value as number[]);
        else runtime.list(value.map((each) => codeOfWord(op, attribute, each)));
      };
    case 'boolean':
      return ({ runtime }, attributes) => runtime.number((attributes[name] ?? fallback) ? 1 : 0);
    case 'dtype':
      return ({ runtime }, attributes) =>
        runtime.number(codeOf((attributes[name] ?? fallback) as DataType));
    default:
      return ({ runtime }, attributes) => {
        const value = (attributes[name] ?? fallback ?? 0) as number | string;
        runtime.number(typeof value === 'number' ? value : codeOfWord(op, attribute, value));
      };
  }
}

/** Text stays in JavaScript: to the core a word is its position. */
function codeOfWord(
  op: OpName,
  { name, words = [] }: AttributeSpec,
  word: number | string,
): number {
  if (typeof word === 'number') return word;
  const code = words.indexOf(word);
  if (code >= 0) return code;
  throw new Error(`[${op}] Received ${name} ${word}; allowed: ${words.join(', ') || 'a number'}.`);
}

function encoders(op: OpName): Encode[] {
  return ATTRIBUTES[op].map((attribute) => encoder(op, attribute));
}

/** One operand, no attributes. */
export function unary(op: OpName): Kernel {
  const id = Op[op];
  const [operand] = INPUTS[op];
  const run = (backend: EbbBackend, x: TensorInfo): EbbData => {
    const { runtime } = backend;
    runtime.begin();
    backend.operand(x, op);
    return runtime.one(id);
  };
  // By name, not by a variable: V8 reads such a property in a fraction of the time.
  return operand === 'x'
    ? ({ inputs, backend }) => run(backend, inputs.x as TensorInfo)
    : ({ inputs, backend }) => run(backend, inputs.input as TensorInfo);
}

/** Two operands, no attributes. */
export function binary(op: OpName): Kernel {
  const id = Op[op];
  const [first, second] = INPUTS[op] as [string, string];
  const run = (backend: EbbBackend, a: TensorInfo, b: TensorInfo): EbbData => {
    const { runtime } = backend;
    runtime.begin();
    backend.operand(a, op);
    backend.operand(b, op);
    return runtime.one(id);
  };
  return first === 'a' && second === 'b'
    ? ({ inputs, backend }) => run(backend, inputs.a as TensorInfo, inputs.b as TensorInfo)
    : ({ inputs, backend }) =>
        run(backend, inputs[first] as TensorInfo, inputs[second] as TensorInfo);
}

type Pass = (backend: EbbBackend, inputs: Inputs) => void;

/** How the operand of this name is passed. */
function passer(op: OpName, operand: string): Pass {
  const kind = operand.at(-1);
  const name = kind === '*' || kind === '?' ? operand.slice(0, -1) : operand;
  if (kind === '*') {
    return (backend, inputs) => {
      const list = (inputs[name] ?? Object.values(inputs)) as unknown as TensorInfo[];
      for (const one of list) backend.operand(one, op);
    };
  }
  if (kind === '?') {
    return (backend, inputs) => {
      const given = inputs[name];
      if (given == null) backend.runtime.input(0);
      else backend.operand(given, op);
    };
  }
  if (kind === ']') {
    const stack = operand.slice(0, -2);
    return (backend, inputs) => backend.matrices(inputs[stack] as TensorInfo, op);
  }
  return (backend, inputs) => backend.operand(inputs[name] as TensorInfo, op);
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
  for (const operand of operands) backend.operand(operand, op);
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
export function op(
  name: OpName,
  prepare: Prepare = unchanged,
  operands: Operands = INPUTS[name],
): Kernel {
  const id = Op[name];
  const pass = operands.map((operand) => passer(name, operand));
  const encode = encodersOf(name);
  return ({ inputs, attrs, backend }) => {
    const attributes = prepare(attrs, inputs);
    backend.runtime.begin();
    for (let i = 0; i < pass.length; i++) (pass[i] as Pass)(backend, inputs);
    for (let i = 0; i < encode.length; i++) (encode[i] as Encode)(backend, attributes);
    return backend.runtime.one(id);
  };
}

/** Any operation with several results; `count` says how many where it is not a handful. */
export function manyOp(
  name: OpName,
  prepare: Prepare = unchanged,
  count?: (attributes: Attributes, inputs: Inputs) => number,
  operands: Operands = INPUTS[name],
): Kernel {
  const id = Op[name];
  const pass = operands.map((operand) => passer(name, operand));
  const encode = encodersOf(name);
  return ({ inputs, attrs, backend }) => {
    const attributes = prepare(attrs, inputs);
    if (count !== undefined) backend.runtime.expect(count(attributes, inputs));
    backend.runtime.begin();
    for (let i = 0; i < pass.length; i++) (pass[i] as Pass)(backend, inputs);
    for (let i = 0; i < encode.length; i++) (encode[i] as Encode)(backend, attributes);
    return backend.runtime.many(id);
  };
}

/** As TensorFlow.js's registry has them. */
export function asKernelFunc(kernel: Kernel): KernelFunc {
  return kernel as unknown as KernelFunc;
}

export type { NamedAttrMap };
