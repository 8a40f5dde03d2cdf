// First module of the bundle: the backend, its test environment, and Ebb if asked for, before any spec.
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import * as tf from '@tensorflow/tfjs-core';
import { setTestEnvs } from '@tensorflow/tfjs-core/dist/jasmine_util';
import '@tensorflow/tfjs-backend-cpu';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';

const { backend, wasmFolder, begin } = globalThis.ebbSpecs;
setWasmPaths(wasmFolder);
// tfjs-core gives two specs (switching backends) to cpu alone; child.cjs leaves only those of them in.
const environments = new Set([backend, 'cpu']);
setTestEnvs([...environments].map((name) => ({ name, backendName: name, isDataSync: true })));
begin(tf);
