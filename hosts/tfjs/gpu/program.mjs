// Runs a program of web/test/programs.js on a GPU in this process, and prints what it gives:
// node gpu/program.mjs <webgpu|webgl> <name> <options as JSON>
import { createRequire } from 'node:module';
import { limitData } from '../web/test/processes.mjs';
import { withWebGpu } from './dawn.mjs';
import { withWebGl } from './headless_gl.mjs';

const require = createRequire(import.meta.url);
const [backend, name, options] = process.argv.slice(2);
globalThis.tf = backend === 'webgpu' ? await withWebGpu() : withWebGl();
globalThis.ebb = require('..');
globalThis.limitOwnData = (bytes) => limitData(process.pid, bytes);
require('../web/test/programs.js');
const outcome = await globalThis.runProgram({ name, options: { backend, ...JSON.parse(options) } });
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit(0)); // Dawn keeps a process alive
