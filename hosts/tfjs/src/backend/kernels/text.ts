// Tensors of strings never leave JavaScript, and neither do the kernels on them: they are those of
// TensorFlow.js's own cpu backend, run on a private instance of it.
import type { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import { type BackendValues, getKernel, type TensorInfo } from '@tensorflow/tfjs-core';
import type { EbbBackend } from '../backend';
import type { Kernel, Params } from '../recipe';

type CpuModule = typeof import('@tensorflow/tfjs-backend-cpu');
type Nested = TensorInfo | TensorInfo[];

let workshop: MathBackendCPU | undefined;

function cpu(): MathBackendCPU {
  if (workshop === undefined) {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- most programs never need it
    const module = require('@tensorflow/tfjs-backend-cpu') as CpuModule;
    workshop = new module.MathBackendCPU();
  }
  return workshop;
}

function lend(from: EbbBackend, info: TensorInfo): TensorInfo {
  const found = from.find(info.dataId, 'text');
  const values = found.strings ?? from.readSync(info.dataId);
  return cpu().makeTensorInfo(info.shape, info.dtype, values as unknown as string[]);
}

function take(to: EbbBackend, info: TensorInfo): TensorInfo {
  const values = cpu().readSync(info.dataId) as BackendValues;
  return to.write(values, info.shape, info.dtype);
}

/** Runs the kernel of TensorFlow.js's cpu backend. */
export function onCpu(name: string): Kernel {
  return ({ inputs, attrs, backend }: Params) => {
    const host = cpu();
    const kernel = getKernel(name, 'cpu');
    if (kernel == null)
      throw new Error(`[${name}] Received a tensor of strings; not allowed here.`);
    const lent: TensorInfo[] = [];
    const lendOne = (info: TensorInfo): TensorInfo => {
      const one = lend(backend, info);
      lent.push(one);
      return one;
    };
    const given = (Array.isArray(inputs) ? [] : {}) as Record<string, Nested>;
    for (const [key, value] of Object.entries(inputs) as Array<[string, Nested]>) {
      if (value != null) given[key] = Array.isArray(value) ? value.map(lendOne) : lendOne(value);
    }
    const results = kernel.kernelFunc({ inputs: given as never, attrs, backend: host });
    const all = Array.isArray(results) ? results : [results];
    const taken = all.map((info) => take(backend, info));
    for (const info of [...all, ...lent]) host.disposeData(info.dataId, true);
    return Array.isArray(results) ? taken : (taken[0] as TensorInfo);
  };
}

const isText = (value: Nested | null | undefined): boolean =>
  value != null &&
  (Array.isArray(value) ? value.some(isText) : (value as TensorInfo).dtype === 'string');

/** The kernel, but for tensors of strings. */
export function orText(name: string, kernel: Kernel): Kernel {
  const text = onCpu(name);
  return (params) => {
    for (const key in params.inputs) if (isText(params.inputs[key])) return text(params);
    return kernel(params);
  };
}

/** Kernels that are about text and nothing else. */
export const text: Record<string, Kernel> = Object.fromEntries(
  ['StaticRegexReplace', 'StringNGrams', 'StringSplit', 'StringToHashBucketFast', 'Draw'].map(
    (name) => [name, onCpu(name)],
  ),
);

/** Those that take text as well as numbers. */
export const TAKE_TEXT = [
  'BatchToSpaceND',
  'Concat',
  'Equal',
  'GatherNd',
  'GatherV2',
  'Greater',
  'GreaterEqual',
  'Less',
  'LessEqual',
  'NotEqual',
  'Pack',
  'RaggedGather',
  'RaggedTensorToTensor',
  'Reverse',
  'ScatterNd',
  'Slice',
  'SpaceToBatchND',
  'SparseToDense',
  'SplitV',
  'StridedSlice',
  'TensorScatterUpdate',
  'Tile',
  'Transpose',
  'Unique',
  'Unpack',
];
