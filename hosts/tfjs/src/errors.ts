/** An error of Ebb's own: `code` says which, the message what to do. */
export class EbbError extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'EbbError';
  }
}

export function badArgument(what: string, given: unknown, allowed: string): EbbError {
  const isObject = typeof given === 'object' && given !== null;
  let shown = isObject ? (given.constructor?.name ?? 'object') : String(given);
  if (typeof given === 'string') shown = JSON.stringify(given);
  return new EbbError('EBB_INVALID_ARGUMENT', `[${what}] Received ${shown}; allowed: ${allowed}.`);
}

/** That options are an object and have no other names than these. */
export function checkOptions(what: string, options: unknown, ...names: string[]): void {
  if (typeof options !== 'object' || options === null)
    throw badArgument(what, options, 'an object');
  for (const name of Object.keys(options)) {
    if (!names.includes(name))
      throw badArgument(what, name, `the option${names.length > 1 ? 's' : ''} ${names.join(', ')}`);
  }
}

/** An option that is true or false, or left out. */
export function checkFlag(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean')
    throw badArgument(what, value, 'true or false');
}
