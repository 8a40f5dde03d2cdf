// A page has no files, in the place of src/node/files.ts.
export function fileToWrite(_what: string, path: string): string {
  return path;
}

export const fileToRecord = fileToWrite;

export function registerFileHandlers(): void {}
