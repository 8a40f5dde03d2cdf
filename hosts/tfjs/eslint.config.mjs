import js from '@eslint/js';
import typescript from 'typescript-eslint';

const NODE = [
  'process',
  'console',
  'performance',
  'setImmediate',
  'setTimeout',
  'clearInterval',
  'clearTimeout',
  'setInterval',
  'require',
  '__dirname',
  'URL',
  'Buffer',
  'globalThis',
  'module',
  'fetch',
];

const PAGE = [
  'tf',
  'ebb',
  'document',
  'location',
  'navigator',
  'console',
  'performance',
  'requestAnimationFrame',
  'setTimeout',
  'globalThis',
  'Worker',
  'URL',
  'importScripts',
  'EventTarget',
  'AbortController',
  'WebAssembly',
  'fetch',
  'TextEncoder',
  'OffscreenCanvas',
  'GPUOutOfMemoryError',
  'GPUUncapturedErrorEvent',
  'runProgram',
];

export default [
  { ignores: ['dist/', 'build/', 'node_modules/'] },
  js.configs.recommended,
  ...typescript.configs.recommended,
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: { globals: Object.fromEntries(NODE.map((name) => [name, 'readonly'])) },
    rules: {
      '@typescript-eslint/no-require-imports': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
    },
  },
  {
    // These run in pages and workers.
    files: ['web/*/*.js'],
    languageOptions: { globals: Object.fromEntries(PAGE.map((name) => [name, 'readonly'])) },
  },
  {
    files: ['runners/cases/*'],
    languageOptions: {
      globals: {
        test: 'readonly',
        it: 'readonly',
        beforeEach: 'readonly',
        jest: 'readonly',
        expect: 'readonly',
      },
    },
  },
];
