// Figures for monitoring, in the text that Prometheus and others read: docs/observe.md lists them.
import { hooksIfAny } from '../engine/hooks';
import {
  FIGURES,
  type Figure,
  INFO,
  type Labels,
  readBooks,
  type Sample,
} from '../observe/figures';

/** The content type of what `metrics()` says. */
export const METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

const ESCAPED: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const escaped = (text: string): string =>
  text.replace(/[\\"\n]/g, (found) => ESCAPED[found] as string);

function labelled(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function family({ name, kind, unit, help }: Figure, samples: Sample[]): string[] {
  const suffix = kind === 'counter' ? '_total' : '';
  return [
    `# TYPE ${name} ${kind}`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${escaped(help)}`,
    ...samples.map(([value, labels]) => `${name}${suffix}${labelled(labels)} ${value}`),
  ];
}

/** The books of the process as OpenMetrics text. A safe point: the dead that are known are given back first. */
export function metrics(): string {
  hooksIfAny()?.safePoint();
  const books = readBooks();
  const lines = FIGURES.flatMap((figure) => family(figure, figure.samples(books)));
  lines.push('# TYPE ebb info', '# HELP ebb What runs.', `ebb_info${labelled(INFO)} 1`);
  return `${lines.join('\n')}\n# EOF\n`;
}
