// A tensor that is used after its end: TensorFlow.js's words, and which tensor it was.
import { EbbError } from '../errors';
import type { Tensor } from './tfjs';

/** The creation site of a tensor that ended while sites were booked. A field: a map of them would cost more. */
const SITE = Symbol('ebb.site');
type Ended = Tensor & { [SITE]?: number };

export function rememberSite(tensor: Tensor, site: number): void {
  (tensor as Ended)[SITE] = site;
}

export function nameDisposed(prototype: object, textOf: (site: number) => string): void {
  const tensors = prototype as { throwIfDisposed?: (this: Ended) => void };
  if (typeof tensors.throwIfDisposed !== 'function') return;
  tensors.throwIfDisposed = function () {
    if (!this.isDisposed) return;
    const { [SITE]: site = 0, id, dtype, shape } = this;
    const made = site === 0 ? '' : `, made at ${textOf(site).replaceAll('\n', ' from ')}`;
    throw new EbbError(
      'EBB_STALE_HANDLE',
      `Tensor is disposed. It was tensor ${id}, ${dtype} [${shape}]${made}.`,
    );
  };
}
