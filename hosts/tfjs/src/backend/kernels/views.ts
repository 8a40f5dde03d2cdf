// Other tensors over the same data: nothing is computed and nothing crosses to the core.
import { slice_util, type Tensor, type TensorInfo, util } from '@tensorflow/tfjs-core';
import { EbbError } from '../../errors';
import { EbbData, sizeOf } from '../data';
import { type Kernel, op, type Params, unary } from '../recipe';

/** Another tensor over the same data. */
export function reshaped({ backend }: Params, x: TensorInfo, shape: number[]): TensorInfo {
  const data = x.dataId;
  if (data instanceof EbbData && data.handle > 0) data.refCount++;
  else backend.incRef(data);
  return { dataId: x.dataId, shape, dtype: x.dtype };
}

/** The only tensor over fresh data, in another shape. */
export function inShape(fresh: TensorInfo, shape: number[]): TensorInfo {
  return { dataId: fresh.dataId, shape, dtype: fresh.dtype };
}

export const identity: Kernel = (params) => {
  const x = params.inputs.x as TensorInfo;
  return reshaped(params, x, x.shape);
};

/** One size may be open: -1. */
function inferred(given: number[], size: number): number[] {
  try {
    return util.inferFromImplicitShape(given, size);
  } catch (error) {
    throw new EbbError(
      'EBB_INVALID_ARGUMENT',
      `[Reshape] Received shape [${given}] (${(error as Error).message}); allowed: sizes, one of them -1.`,
      { cause: error },
    );
  }
}

const reshape: Kernel = (params) => {
  const x = params.inputs.x as TensorInfo;
  const given = params.attrs.shape as number[];
  const size = sizeOf(x.shape);
  const shape = given.some((extent) => extent < 0) ? inferred(given, size) : given;
  if (sizeOf(shape) !== size) {
    throw new EbbError(
      'EBB_INVALID_ARGUMENT',
      `[Reshape] Received shape [${shape}] for a tensor of shape [${x.shape}]; allowed: as many elements.`,
    );
  }
  return reshaped(params, x, shape);
};

const expandDims: Kernel = (params) => {
  const input = params.inputs.input as TensorInfo;
  const rank = input.shape.length;
  const dim = params.attrs.dim as number;
  util.assert(
    -(rank + 1) <= dim && dim <= rank,
    () => `[ExpandDims] Received axis ${dim}; allowed: ${-(rank + 1)} to ${rank}.`,
  );
  const shape = input.shape.slice();
  shape.splice(dim < 0 ? rank + dim + 1 : dim, 0, 1);
  return reshaped(params, input, shape);
};

const slice = op('Slice', (attrs, { x }) => {
  const { begin, size } = attrs as { begin: number | number[]; size: number | number[] };
  const [from, extent] = slice_util.parseSliceParams(x as unknown as Tensor, begin, size);
  slice_util.assertParamsValid(x as unknown as Tensor, from as number[], extent as number[]);
  return { begin: from, size: extent };
});

export const views: Record<string, Kernel> = {
  ExpandDims: expandDims,
  Identity: identity,
  Imag: unary('Imag'),
  Real: unary('Real'),
  Reshape: reshape,
  Slice: slice,
  Transpose: op('Transpose'),
};
