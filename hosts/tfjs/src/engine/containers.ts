// Which tensors a function returned.
import { isTensor, type Tensor } from './tfjs';

/**
 * Tensors in a result, however deep: objects, arrays and class instances as TensorFlow.js looks through
 * them, and Maps and Sets besides.
 */
export function tensorsIn(result: unknown): Tensor[] {
  if (result === null || typeof result !== 'object') return [];
  if (isTensor(result)) return [result];
  const found: Tensor[] = [];
  gather(result, found, new Set([result]));
  return found;
}

function gather(container: object, found: Tensor[], seen: Set<unknown>): void {
  if (ArrayBuffer.isView(container)) return;
  if (container instanceof Map || container instanceof Set) {
    for (const [key, value] of container.entries()) {
      visit(key, found, seen);
      visit(value, found, seen);
    }
  }
  for (const key in container) visit((container as Record<string, unknown>)[key], found, seen);
}

function visit(value: unknown, found: Tensor[], seen: Set<unknown>): void {
  if (value === null || typeof value !== 'object' || seen.has(value)) return;
  seen.add(value);
  if (isTensor(value)) found.push(value);
  else gather(value, found, seen);
}
