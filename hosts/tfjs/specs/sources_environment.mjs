// First module of a bundle of sources.mjs: what environment.mjs is for tfjs-core, without backend wasm, which specs that
// name no backend would get.
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops';
import '@tensorflow/tfjs-core/dist/register_all_gradients';
import * as tf from '@tensorflow/tfjs-core';
import { setTestEnvs } from '@tensorflow/tfjs-core/dist/jasmine_util';
import '@tensorflow/tfjs-backend-cpu';

const { backend, begin } = globalThis.ebbSpecs;
// Half of tfjs-layers's specs are for environments of cpu alone: the backend that is tested stands for it.
setTestEnvs([{ name: backend, backendName: 'cpu', isDataSync: true }]);
begin(tf);
const engine = tf.engine();
const { setBackend } = engine;
engine.setBackend = (name) => setBackend.call(engine, name === 'cpu' ? backend : name);
