// Which tensors a function makes and which it disposes of while it is recorded: a replay does neither.
import { engine } from '@tensorflow/tfjs-core';
import { hooksIfAny } from '../../engine/hooks';
import { type Engine, isVariable, type Tensor } from '../../engine/tfjs';

/** The engine's methods through which tensors begin and end. */
type Methods = Pick<Engine, 'trackTensor' | 'disposeTensor'>;

const tracker = (): Engine => engine() as unknown as Engine;

/** Replacing them for a call does not change what the engine is like, once they are of its own: with the first function. */
export function ownMethods(): void {
  const now = tracker();
  const { trackTensor, disposeTensor } = now;
  Object.assign(now, { trackTensor, disposeTensor });
}

/** From its construction until stop(). Variables are not its concern where the engine has them in its list. */
export class Lives {
  private readonly tracker = tracker();
  private readonly before: Methods;
  private readonly heard: Methods;
  /** By id where the books tell which are alive: then tensors may be held weakly, and are. */
  private readonly made: Array<Tensor | number> = [];
  private readonly ended: Tensor[] = [];
  /** Whether nothing went past it. */
  isComplete = true;
  /** Whether there was a variable that the engine does not know. */
  metUnknown = false;

  /** `given`: tensors that were made for the function, from this id on. */
  constructor(
    given: readonly Tensor[],
    private readonly firstId: number,
  ) {
    const { trackTensor, disposeTensor } = this.tracker;
    this.before = { trackTensor, disposeTensor };
    for (const each of given) this.begun(each);
    this.heard = {
      trackTensor: (tensor, backend) => {
        trackTensor.call(this.tracker, tensor, backend);
        this.begun(tensor);
      },
      disposeTensor: (tensor) => {
        if (tensor.id < this.firstId && !isVariable(tensor)) this.ended.push(tensor);
        this.checkKnown(tensor); // assign() ends what a variable had
        disposeTensor.call(this.tracker, tensor);
      },
    };
    Object.assign(this.tracker, this.heard);
  }

  stop(): void {
    for (const name of ['trackTensor', 'disposeTensor'] as const) {
      // Ebb's hooks replace them for good, where they are put in place meanwhile.
      if (this.tracker[name] === this.heard[name])
        Object.assign(this.tracker, { [name]: this.before[name] });
      else this.isComplete = false;
    }
  }

  checkKnown(tensor: Tensor): void {
    if (isVariable(tensor))
      this.metUnknown ||= this.tracker.state.registeredVariables[tensor.name] !== tensor;
  }

  private begun(tensor: Tensor): void {
    if (isVariable(tensor)) return;
    this.made.push(hooksIfAny() === undefined ? tensor : tensor.id);
  }

  /** Whether one that it made, and that is none of these, is there when its scope has ended. */
  leftBut(results: readonly Tensor[]): boolean {
    const ids = new Set(results.map(({ id }) => id));
    return this.made.some((each) => {
      const id = typeof each === 'number' ? each : each.id;
      return !ids.has(id) && isAlive(each);
    });
  }

  /** Whether one is gone that was there before. */
  endedOthers(): boolean {
    return this.ended.some(({ isDisposed }) => isDisposed);
  }
}

/** One that nobody can reach any more is none, also where its notice has not come yet. */
function isAlive(made: Tensor | number): boolean {
  if (typeof made !== 'number') return !made.isDisposed;
  const books = hooksIfAny()?.books;
  const slot = books?.slots.find(made) ?? -1;
  return slot >= 0 && books?.tensor(slot) !== undefined;
}
