// Tensors that a recorded function is given and gives.
import { engine, type Tensor } from '@tensorflow/tfjs-core';
import type { Backend, Engine, Variable } from '../../engine/tfjs';
import type { EbbBackend } from '../backend';
import { codeOf, EbbData } from '../data';
import type { Likeness } from './program';
import { formOf } from './values';

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

export function aliasOf(backend: EbbBackend, { dataId, shape, dtype }: Tensor): Tensor {
  const { handle } = backend.find(dataId, 'record');
  const data = new EbbData(backend.runtime.view(handle, codeOf(dtype), shape), shape, dtype);
  data.home = backend.home;
  backend.runtime.born++;
  return tensorOver(backend, data, shape);
}

export const allVariables = (): Variable[] =>
  Object.values(engine().registeredVariables) as unknown as Variable[];

const placeOf = ({ dataId }: Variable): Backend | undefined =>
  (engine() as unknown as Engine).state.tensorInfo.get(dataId)?.backend;

const isAway = (backend: EbbBackend, variable: Variable): boolean =>
  (placeOf(variable) as unknown) !== backend;

/** Says where the values of a variable are about to be looked at that is on another backend; gives what ends that. */
export function heardWhereAway(backend: EbbBackend, looked: () => void): () => void {
  const away = allVariables().filter((each) => isAway(backend, each));
  for (const variable of away) {
    for (const look of ['dataSync', 'data'] as const) {
      const own = (variable as unknown as Tensor)[look] as () => unknown;
      const value = (): unknown => {
        if (isAway(backend, variable)) looked();
        return own.call(variable);
      };
      Object.defineProperty(variable, look, { value, configurable: true });
    }
  }
  return () => {
    for (const variable of away as unknown as Array<Partial<Tensor>>) {
      delete variable.dataSync;
      delete variable.data;
    }
  };
}

export function isShared(variable: Variable): boolean {
  const backend = placeOf(variable) as EbbBackend | undefined;
  return backend !== undefined && backend.refCount(variable.dataId) > 1;
}

/**
 * Variables that share their data with others get data of their own over the same memory: a recording knows variables
 * by their data, and the next value of one is not that of the other.
 */
export function tellVariablesApart(backend: EbbBackend): void {
  for (const variable of allVariables()) {
    const isNative = (placeOf(variable) as unknown) === backend && variable.dtype !== 'string';
    if (!isNative || !isShared(variable)) continue;
    const own = aliasOf(backend, variable as unknown as Tensor);
    variable.assign(own as never);
    own.dispose();
  }
}

const refilled = new WeakSet<object>();
/** The tensor's data has other values after each call of a function that reuses its results. */
export const willBeRefilled = ({ dataId }: Tensor): void => void refilled.add(dataId);
export const isRefilled = (dataId: object): boolean => refilled.has(dataId);

export function likenessOf({ dtype, shape, dataId }: Tensor): Likeness {
  return { dtype, shape, native: (dataId as EbbData).shape };
}

/** How many of the result's tensors came with this id or later. */
export function distinctNew(result: unknown, firstId: number): number {
  const tensors: Tensor[] = [];
  formOf(result, tensors);
  return new Set(tensors.filter(({ id, isDisposed }) => id >= firstId && !isDisposed)).size;
}

/** The result's tensors, each once, where all came with this id or later; otherwise none. */
export function ownResults(result: unknown, firstId: number): Tensor[] {
  const tensors: Tensor[] = [];
  formOf(result, tensors);
  const distinct = [...new Set(tensors)];
  return distinctNew(result, firstId) === distinct.length ? distinct : [];
}
