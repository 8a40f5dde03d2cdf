// The same figures for OpenTelemetry, where a program has it: `@opentelemetry/api` is optional.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { badArgument, EbbError } from '../errors';
import { FIGURES, type Figure, type Labels, readBooks } from '../observe/figures';
import { VERSION } from '../shared';

/** What is used of `@opentelemetry/api`. */
interface Observable {
  addCallback?: unknown;
}
interface Result {
  observe(instrument: Observable, value: number, labels: Labels): void;
}
type Callback = (result: Result) => void;
interface Options {
  description: string;
  unit?: string;
}
export interface Meter {
  createObservableGauge(name: string, options: Options): Observable;
  createObservableCounter(name: string, options: Options): Observable;
  createObservableUpDownCounter(name: string, options: Options): Observable;
  addBatchObservableCallback(callback: Callback, instruments: Observable[]): void;
  removeBatchObservableCallback(callback: Callback, instruments: Observable[]): void;
}
interface Api {
  metrics: { getMeter(name: string, version: string): Meter };
}

const UNITS = { bytes: 'By', seconds: 's' } as const;

/** The program's own copy: meters are found through it. */
function usualMeter(): Meter {
  for (const base of [process.argv[1], join(process.cwd(), 'index.js'), __filename]) {
    if (base === undefined) continue;
    try {
      const api = createRequire(base)('@opentelemetry/api') as Api;
      return api.metrics.getMeter('ebb-tfjs', VERSION);
    } catch (error) {
      if ((error as { code?: string }).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new EbbError(
    'EBB_UNSUPPORTED',
    '[openTelemetry] @opentelemetry/api is not installed; install it, or give a meter.',
  );
}

function instrument(meter: Meter, figure: Figure): Observable {
  const options: Options = { description: figure.help };
  if (figure.unit !== undefined) options.unit = UNITS[figure.unit];
  if (figure.kind === 'counter') return meter.createObservableCounter(figure.otel, options);
  // What sums up over its labels.
  return figure.otel === 'ebb.device.memory.usage'
    ? meter.createObservableUpDownCounter(figure.otel, options)
    : meter.createObservableGauge(figure.otel, options);
}

/** Gives the figures to a meter, or to one of the program's; what it returns ends that. */
export function openTelemetry(meter: Meter = usualMeter()): () => void {
  if (typeof meter?.addBatchObservableCallback !== 'function')
    throw badArgument('openTelemetry', meter, 'a Meter of @opentelemetry/api, or nothing');
  const all = FIGURES.map((figure) => ({ figure, made: instrument(meter, figure) }));
  const instruments = all.map(({ made }) => made);
  const observe: Callback = (result) => {
    const books = readBooks();
    for (const { figure, made } of all)
      for (const [value, labels] of figure.samples(books)) result.observe(made, value, labels);
  };
  meter.addBatchObservableCallback(observe, instruments);
  return () => meter.removeBatchObservableCallback(observe, instruments);
}
