// The package's types, as TypeScript finds them from a program that imports the package: test/types.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { require } from './support.mjs';

const ts = require('typescript');
const { ESNext, CommonJS, Node16 } = ts.ModuleKind;
const folder = fileURLToPath(new URL('types/', import.meta.url));
const files = readdirSync(folder).map((name) => folder + name);

/** What TypeScript says of the programs. */
function errors(module, moduleResolution) {
  const options = { module, moduleResolution, target: ts.ScriptTarget.ES2022 };
  const program = ts.createProgram(files, {
    ...options,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    // Node10 does not know that the package may name itself.
    ...(moduleResolution === ts.ModuleResolutionKind.Node10 && {
      paths: { 'ebb-tfjs': [fileURLToPath(new URL('../dist/index', import.meta.url))] },
    }),
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

test('programs compile that the types allow, and no others', () => {
  assert.ok(files.length > 0);
  const { Bundler, Node10 } = ts.ModuleResolutionKind;
  for (const [module, resolution] of [
    [Node16, ts.ModuleResolutionKind.Node16],
    [ESNext, Bundler],
    [CommonJS, Node10],
  ]) {
    assert.deepEqual(errors(module, resolution), []);
  }
});
