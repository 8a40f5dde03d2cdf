// Programs as people write them against the package's types. An error that is expected says so: test/types.test.mjs.
import * as ebb from 'ebb-tfjs';
import type { LayersModel, Tensor, Tensor2D } from '@tensorflow/tfjs';

// A recorded function takes and gives what the function does, and has info and dispose.
const fast = ebb.record((x: Tensor2D, times: number) => ({ y: x.mul(times) as Tensor }), {
  name: 'fast',
  guards: true,
});
declare const x: Tensor2D;
const y: Tensor = fast(x, 2).y;
y.dispose();
const replayed: number = fast.info().replayed;
const reasons: Record<string, number> = fast.info().reasons;
fast.dispose();
export const info: ebb.RecordedInfo = fast.info();
// @ts-expect-error -- text is no number
fast(x, 'two');
// @ts-expect-error -- there is no such option
ebb.record(() => 0, { guard: true });
// @ts-expect-error -- a number is neither a function nor a model
ebb.record(3);

const nothing: ebb.RecordedFunction = ebb.record(() => {});
nothing.dispose();
export const generic = ebb.record(<T extends Tensor>(given: T): T => given)(x);
export const named: Tensor2D = generic;

// A model is the model.
declare const model: LayersModel;
export const same: LayersModel = ebb.record(model, { reuse: true });
const parts: ebb.RecordedModel | undefined = ebb.recorded(model);
export const predicted: number | undefined = parts?.info().predict?.calls;
parts?.dispose();
// @ts-expect-error -- a model has no info of its own
ebb.record(model).info();

export const numbers = [replayed, reasons];
