/** A warning for people, from the core. */
export function warnPeople(message: string): void {
  process.emitWarning(message, { type: 'EbbWarning', code: 'EBB_OVER_BUDGET' });
}
