/** In the place of src/node/promises.ts. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise || Object.prototype.toString.call(value) === '[object Promise]';
}
