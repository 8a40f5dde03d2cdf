/** In the place of src/node/warnings.ts. */
export function warnPeople(message: string): void {
  console.warn(message);
}
