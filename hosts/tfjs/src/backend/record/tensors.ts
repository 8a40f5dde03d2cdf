// Tensors that a recorded function is given and gives.
import { engine, type Tensor } from '@tensorflow/tfjs-core';
import {
  type Backend,
  type Engine,
  isVariable,
  type Tensor as Owner,
  type Variable,
} from '../../engine/tfjs';
import type { EbbBackend } from '../backend';
import { EbbData } from '../data';
import { runOp } from '../recipe';
import type { Likeness } from './program';

export function isHere(backend: EbbBackend, dataId: object): boolean {
  return dataId instanceof EbbData && dataId.handle > 0 && dataId.home === backend.home;
}

/** A tensor over data that has none yet. Where none can be made, the data ends. */
export function tensorOver(backend: EbbBackend, data: EbbData, shape: number[]): Tensor {
  try {
    const info = { dataId: data, shape, dtype: data.dtype };
    return engine().makeTensorFromTensorInfo(info, backend);
  } catch (error) {
    if (data.handle > 0) backend.release(data); // otherwise it went with a tensor that could not be tracked
    throw error;
  }
}

/** Another tensor over the same memory, as it lies there. */
export function aliasOf(backend: EbbBackend, tensor: Tensor): Tensor {
  return tensorOver(backend, runOp(backend, 'Identity', [tensor]), tensor.shape);
}

export const allVariables = (): Variable[] =>
  Object.values(engine().registeredVariables) as unknown as Variable[];

const placeOf = ({ dataId }: Owner): Backend | undefined =>
  (engine() as unknown as Engine).state.tensorInfo.get(dataId)?.backend;

const isAway = (backend: EbbBackend, owner: Owner): boolean =>
  (placeOf(owner) as unknown) !== backend;

/** Says where the values of an owner are about to be looked at that is on another backend; gives what ends that. */
export function heardWhereAway(
  backend: EbbBackend,
  owners: readonly Owner[],
  looked: () => void,
): () => void {
  const away = owners.filter((each) => isAway(backend, each));
  for (const owner of away) {
    for (const look of ['dataSync', 'data'] as const) {
      const own = (owner as unknown as Tensor)[look] as () => unknown;
      const value = (): unknown => {
        if (isAway(backend, owner)) looked();
        return own.call(owner);
      };
      Object.defineProperty(owner, look, { value, configurable: true });
    }
  }
  return () => {
    for (const owner of away as unknown as Array<Partial<Tensor>>) {
      delete owner.dataSync;
      delete owner.data;
    }
  };
}

export function isShared(owner: Owner): boolean {
  const backend = placeOf(owner) as EbbBackend | undefined;
  return backend !== undefined && backend.refCount(owner.dataId) > 1;
}

/** The owner has the data of this value from now on, and the value ends. */
export function moveTo(backend: EbbBackend, owner: Owner, value: Tensor): void {
  if (isVariable(owner)) {
    owner.assign(value as never);
  } else {
    const tensor = owner as unknown as Tensor;
    engine().disposeTensor(tensor);
    tensor.dataId = value.dataId;
    engine().incRef(tensor, backend);
  }
  value.dispose();
}

/**
 * Owners that share their data with others get data of their own over the same memory: a recording knows owners by
 * their data, and the next value of one is not that of the other.
 */
export function tellApart(backend: EbbBackend, owners: readonly Owner[]): void {
  for (const owner of owners) {
    const isNative = !isAway(backend, owner) && owner.dtype !== 'string';
    if (isNative && isShared(owner)) {
      moveTo(backend, owner, aliasOf(backend, owner as unknown as Tensor));
    }
  }
}

export function likenessOf({ dtype, shape, dataId }: Tensor): Likeness {
  return { dtype, shape, native: (dataId as EbbData).shape };
}

/** The results, each once, where all came with this id or later; otherwise none. */
export function ownResults(results: readonly Tensor[], firstId: number): readonly Tensor[] {
  return results.every(({ id, isDisposed }) => id >= firstId && !isDisposed) ? results : [];
}
