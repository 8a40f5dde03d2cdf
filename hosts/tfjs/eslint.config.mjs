import js from '@eslint/js';
import typescript from 'typescript-eslint';

const NODE = [
  'process',
  'console',
  'performance',
  'setImmediate',
  'setTimeout',
  'clearInterval',
  'setInterval',
  'require',
  '__dirname',
  'URL',
  'Buffer',
  'globalThis',
  'module',
  'fetch',
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
    files: ['runners/cases/*'],
    languageOptions: {
      globals: { test: 'readonly', it: 'readonly', beforeEach: 'readonly', jest: 'readonly' },
    },
  },
];
