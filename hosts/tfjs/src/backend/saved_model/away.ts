// Predictions away from this thread, so that its event loop stays free: a worker has the models too, as this thread asks
// for them, and computes one call after the other (kernels use every processor already). Values are copied both ways.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { engine, type Tensor, tensor, type TensorInfo } from '@tensorflow/tfjs';
import { EbbError } from '../../errors';

/** Which model: what loadSavedModel was given. */
export interface Source {
  path: string;
  tags: string[];
  signature: string;
}

/** A tensor between threads. */
export interface Parcel {
  dtype: Exclude<TensorInfo['dtype'], 'complex64'>;
  shape: number[];
  values: Float32Array | Int32Array | Uint8Array | string[];
}

export interface Request {
  id: number;
  model: string;
  /** Load it if it is not there. */
  source: Source;
  /** Undefined: it is not needed any more. */
  inputs?: Parcel[];
}

export interface Reply {
  id: number;
  outputs?: Parcel[];
  error?: { message: string; code?: string };
}

export function pack({ dtype, shape, ...rest }: Tensor): Parcel {
  const { dataId } = rest as { dataId: object };
  const values = engine().readSync(dataId) as Parcel['values'];
  return { dtype: dtype as Parcel['dtype'], shape, values };
}

export const unpack = ({ values, shape, dtype }: Parcel): Tensor => tensor(values, shape, dtype);

const PROGRAM = join(__dirname, 'predictor.js');

interface Waiting {
  resolve(outputs: Parcel[]): void;
  reject(error: Error): void;
}

/** The worker, while a model needs it. It keeps no process alive but for calls under way. */
class PredictionThread {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private readonly models = new Set<string>();
  private next = 1;

  run(model: string, source: Source, inputs: Parcel[]): Promise<Parcel[]> {
    const worker = (this.worker ??= this.start());
    const id = this.next++;
    this.models.add(model);
    worker.ref();
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.postMessage({ id, model, source, inputs } satisfies Request);
    });
  }

  forget(model: string, source: Source): void {
    const { worker } = this;
    if (!this.models.delete(model) || worker === undefined) return;
    if (this.models.size > 0) {
      worker.postMessage({ id: 0, model, source } satisfies Request);
      return;
    }
    this.end(worker, '[SavedModel] The model was disposed of meanwhile.');
    void worker.terminate();
  }

  private start(): Worker {
    const worker = new Worker(PROGRAM, { execArgv: [] });
    worker.on('message', (reply: Reply) => this.answer(reply));
    worker.on('error', ({ message }) => this.end(worker, message));
    worker.on('exit', (code) => this.end(worker, `[SavedModel] The worker ended with ${code}.`));
    return worker;
  }

  private answer({ id, outputs, error }: Reply): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (this.waiting.size === 0) this.worker?.unref();
    if (outputs !== undefined) waiting?.resolve(outputs);
    else waiting?.reject(new EbbError(error?.code ?? 'EBB_INTERNAL', error?.message ?? ''));
  }

  private end(worker: Worker, why: string): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    this.models.clear();
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of all) reject(new EbbError('EBB_WRONG_STATE', why));
  }
}

const thread = new PredictionThread();
let count = 0;
/** Models that nobody disposed of. */
const dropped = new FinalizationRegistry<() => void>((forget) => forget());

/** One model of this thread, as the other one has it. */
export class AwayModel {
  private readonly name = `${(count += 1)}`;

  constructor(private readonly source: Source) {
    const { name } = this;
    dropped.register(this, () => thread.forget(name, source), this);
  }

  /** Whether a worker can be started here: a bundle may have left its program out. */
  static possible(): boolean {
    return existsSync(PROGRAM);
  }

  async run(inputs: readonly Tensor[]): Promise<Tensor[]> {
    const outputs = await thread.run(this.name, this.source, inputs.map(pack));
    return outputs.map(unpack);
  }

  dispose(): void {
    dropped.unregister(this);
    thread.forget(this.name, this.source);
  }
}
