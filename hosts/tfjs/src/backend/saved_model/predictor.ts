// The worker of away.ts: has models, and runs them on what it is sent.
import { parentPort } from 'node:worker_threads';
import { dispose, type Tensor } from '@tensorflow/tfjs';
import '../index'; // backend `ebb`, chosen
import { pack, type Parcel, type Reply, type Request, unpack } from './away';
import { loadSavedModel, type TFSavedModel } from './index';

const models = new Map<string, Promise<TFSavedModel>>();

async function predict({ model, source, inputs = [] }: Request): Promise<Parcel[]> {
  const { path, tags, signature } = source;
  let loading = models.get(model);
  if (loading === undefined) models.set(model, (loading = loadSavedModel(path, tags, signature)));
  const saved = await loading;
  const given = inputs.map(unpack);
  let results: Tensor[] = [];
  try {
    results = await saved.runHere(given);
    return results.map(pack);
  } finally {
    dispose([given, results]);
  }
}

async function answer(request: Request): Promise<void> {
  if (request.inputs === undefined) {
    const leaving = models.get(request.model);
    models.delete(request.model);
    (await leaving)?.dispose();
    return;
  }
  const reply: Reply = { id: request.id };
  try {
    reply.outputs = await predict(request);
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    reply.error = { message, ...(code !== undefined && { code }) };
  }
  parentPort?.postMessage(reply);
}

let last: Promise<void> = Promise.resolve();
parentPort?.on('message', (request: Request) => {
  last = last.then(() => answer(request)).catch(() => undefined);
});
