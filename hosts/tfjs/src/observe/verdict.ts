// What a recording shows, in a few lines.
import { relative } from 'node:path';
import { amount, shown } from './shown';
import type { Place, Report } from './tool';

/** Growth can be told after this much. */
const LEAST_SECONDS = 1;
const MOST_PLACES = 5;

const SEE_MORE = '--mode full takes the place of every tensor';
const MANY = 'it grows at many, at each by little';

const rate = (perSecond: number): string => `+${amount(perSecond)}/s`;

/** `handle (/srv/app/server.js:42)` -> `handle (server.js:42)`, where it is below the working folder. */
function placed(frame: string): string {
  const short = frame.replace(/(\(|^)(\/[^()]*)(:\d+\)?$)/, (all, open, path, rest) => {
    const near = relative(process.cwd(), path as string);
    return near.startsWith('..') ? (all as string) : `${open}${near}${rest}`;
  });
  return shown(short);
}

function headline(report: Report, growing: Place[]): string {
  const { seconds, level, reclaimed } = report;
  const back = `${amount(reclaimed)} given back`;
  if (report.events === 0 && report.peak === 0) return 'no tensors were recorded';
  if (seconds < LEAST_SECONDS)
    return `${amount(level)} at the end (${back}). Too short to tell growth: ${seconds.toFixed(2)} s of at least 1 s`;
  if (!report.growing) return `flat at ${amount(level)} (${back})`;
  const total = Math.max(report.growth_per_second, ...growing.map((one) => one.growth_per_second));
  return `growing ${rate(total)}, ${amount(level)} now (${back})`;
}

export interface Findings {
  report: Report;
  /** What holds the tensors of a place, by its frames' text; why nobody looked, if nobody did. */
  heldBy: Map<string, string | undefined>;
  notLooked?: string | undefined;
  /** What to say besides, a line each. */
  notes: string[];
}

export const textOf = (place: Place): string => place.frames.join('\n');
export const growingPlaces = (report: Report): Place[] =>
  report.places.filter((place) => place.growing).slice(0, MOST_PLACES);

export function verdict({ report, heldBy, notLooked, notes }: Findings): string {
  const growing = growingPlaces(report);
  const lines = [`ebb: ${headline(report, growing)}`];
  if (report.lost > 0) lines.push(`  ${report.lost} events were lost; they invent no growth`);
  for (const place of growing) {
    const shapes = place.shapes === '' ? '' : `, ${shown(place.shapes)}`;
    lines.push(`  ${rate(place.growth_per_second)}: ${placed(place.frames[0] ?? '')}${shapes}`);
    const holder = heldBy.get(textOf(place));
    if (holder !== undefined) lines.push(`    held by: ${holder}`);
    else if (notLooked === undefined && heldBy.has(textOf(place)))
      lines.push('    held by: code that runs, another thread, or native code');
  }
  const others = report.places.filter((place) => place.growing).length - growing.length;
  if (others > 0) lines.push(`  and more places grow: npx ebb report lists them`);
  if (report.growing && growing.length === 0)
    lines.push(`  no place stands out: ${report.mode === 'full' ? MANY : SEE_MORE}`);
  if (growing.length > 0 && notLooked !== undefined) lines.push(`  holders: ${shown(notLooked)}`);
  return [...lines, ...notes.map((note) => `  ${shown(note)}`), ''].join('\n');
}
