// The progress bar of `fit`, as tfjs-node has it: unless `verbose` is 0. The bar itself is for terminals; lines about epochs
// are for everybody.
import { CustomCallback, type Logs, registerCallbackConstructor } from '@tensorflow/tfjs';

const DIGITS = 2;
const MOST_DECIMALS = 4;
const THROTTLE_MS = 50;

function shown(value: number): string {
  const isPlain = !Number.isFinite(value) || value === 0 || Math.abs(value) > 1;
  const decimals = isPlain ? DIGITS : DIGITS - Math.floor(Math.log10(Math.abs(value)));
  return decimals > MOST_DECIMALS ? value.toExponential(DIGITS) : value.toFixed(decimals);
}

function metricsIn(logs: Logs | undefined): string {
  return Object.entries(logs ?? {})
    .filter(([name]) => name !== 'batch' && name !== 'size')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${shown(value as number)}`)
    .join(' ');
}

/** One line of a terminal, drawn anew. */
class Bar {
  private drawn = 0;
  private readonly start = performance.now();

  constructor(private readonly total: number) {}

  draw(done: number, metrics: string): void {
    const now = performance.now();
    if (now - this.drawn < THROTTLE_MS && done < this.total) return;
    this.drawn = now;
    const columns = process.stderr.columns || 80;
    const width = Math.floor(columns / 2);
    const share = this.total > 0 ? Math.min(done / this.total, 1) : 0;
    const full = Math.max(Math.floor(width * share) - 1, 0);
    const seconds = share > 0 ? ((now - this.start) / 1000) * (1 / share - 1) : NaN;
    const eta = Number.isFinite(seconds) ? seconds.toFixed(1) : '?';
    const line = `eta=${eta} ${'='.repeat(full)}>${'-'.repeat(width - full - 1)} ${metrics}`;
    process.stderr.write(`\r\x1b[K${line.slice(0, columns - 1)}`);
  }

  end(): void {
    process.stderr.write('\r\x1b[K');
  }
}

export class ProgressBar extends CustomCallback {
  constructor() {
    let total = 0;
    let begun = 0;
    let batches = 0;
    let bar: Bar | undefined;
    const params = (): Record<string, unknown> => this.params as Record<string, unknown>;
    super({
      onTrainBegin: () => {
        const { samples, batchSize, steps } = params() as Record<string, number | null>;
        total = samples != null ? Math.ceil(samples / (batchSize ?? 1)) : (steps ?? 0);
      },
      onEpochBegin: (epoch) => {
        console.log(`Epoch ${epoch + 1} / ${String(params().epochs)}`);
        begun = performance.now();
        batches = 0;
        bar = process.stderr.isTTY ? new Bar(total) : undefined;
      },
      onBatchEnd: (_, logs) => {
        batches++;
        bar?.draw(batches, metricsIn(logs));
      },
      onEpochEnd: (_, logs) => {
        bar?.end();
        const ms = performance.now() - begun;
        const { samples } = params() as { samples?: number | null };
        const each = (ms / (samples ?? batches)) * 1000;
        console.log(`${ms.toFixed(0)}ms ${each.toFixed(0)}us/step - ${metricsIn(logs)}`);
      },
    });
  }
}

/** Marks a copy of tfjs-layers that has it: a second copy of this package must not draw a second one. */
const REGISTERED = Symbol.for('ebb-tfjs.progress');

export function registerProgressBar(): void {
  const registry = registerCallbackConstructor as { [REGISTERED]?: boolean };
  if (registry[REGISTERED]) return;
  registry[REGISTERED] = true;
  registerCallbackConstructor(1, ProgressBar);
}
