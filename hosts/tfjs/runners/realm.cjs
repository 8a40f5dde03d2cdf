// A vm context with a module registry of its own, as runners make them.
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const vm = require('node:vm');

const GLOBALS = ['process', 'console', 'Buffer', 'performance', 'queueMicrotask', 'setImmediate'];
const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'TextDecoder', 'URL'];

/** What loads a file in it. */
module.exports.registry = () => {
  const given = [...GLOBALS, ...TIMERS, 'TextEncoder', 'fetch'].map((name) => [
    name,
    globalThis[name],
  ]);
  const context = vm.createContext(Object.fromEntries(given));
  vm.runInContext('globalThis.global = globalThis', context);
  const loaded = new Map();
  const load = (file) => {
    if (loaded.has(file)) return loaded.get(file).exports;
    const module = { exports: {} };
    loaded.set(file, module);
    const outer = createRequire(file);
    const inner = (name) => {
      const found = outer.resolve(name);
      return found.startsWith('/') && !found.endsWith('.node') ? load(found) : outer(name);
    };
    inner.resolve = outer.resolve;
    inner.cache = {};
    if (file.endsWith('.json')) return JSON.parse(readFileSync(file, 'utf8'));
    const words = ['exports', 'require', 'module', '__filename', '__dirname'];
    vm.compileFunction(readFileSync(file, 'utf8'), words, {
      parsingContext: context,
      filename: file,
    })(module.exports, inner, module, file, dirname(file));
    return module.exports;
  };
  return load;
};
