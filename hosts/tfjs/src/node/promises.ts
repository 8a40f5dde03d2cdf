import { types } from 'node:util';

/** A promise of the language's own, of whichever realm: jest has several. */
export const isPromise: (value: unknown) => value is Promise<unknown> = types.isPromise;
