// What a recording shows and who holds what grows, put together. What holders were found stays known: at the end of a
// program the variables that held them may be gone.
import { hooksIfAny, sites } from '../engine/hooks';
import { badArgument } from '../errors';
import { host } from '../host';
import type { Holding } from './heap_paths';
import { findHoldings, findHoldingsSync, heapTooLarge, mostly, tensorsOf } from './holders';
import { readReport, readReportSync, type Report } from './tool';
import { type Findings, growingPlaces, textOf } from './verdict';

/** By the text of a place. */
const known = new Map<string, string>();

/** Whether to look for holders: `1` in any heap, `0` never. */
export function whySetting(): string {
  const value = process.env.EBB_WHY ?? '';
  if (!['', '0', '1'].includes(value)) throw badArgument('EBB_WHY', value, '1 or 0');
  return value;
}

/** Why holders are not looked for; undefined: they are. */
function refused(): string | undefined {
  const setting = whySetting();
  if (setting === '1') return undefined;
  if (setting === '0') return 'not looked for (--no-why)';
  const reason = heapTooLarge();
  return reason === undefined ? undefined : `not looked for: ${reason}; --why looks all the same`;
}

/** Places that grow and have tensors here, with these. */
function questions(places: string[]): Array<[string, object[]]> {
  const installed = hooksIfAny();
  if (installed === undefined) return [];
  return places
    .map((place): [string, object[]] => [place, tensorsOf(installed, place)])
    .filter(([, tensors]) => tensors.length > 0);
}

const LONGEST_HOLDER = 1000;

/** In the recording as well, for reports; one that has ended or given up takes none. */
function note(place: string, holder: string): void {
  try {
    for (const site of sites().withText(place))
      host().recordHolder?.(site, holder.slice(0, LONGEST_HOLDER));
  } catch (error) {
    if ((error as { code?: string }).code !== 'EBB_WRONG_STATE') throw error;
  }
}

function learn(asked: Array<[string, object[]]>, answers: Holding[][]): void {
  asked.forEach(([place], i) => {
    const holder = mostly(answers[i] ?? []);
    if (holder === undefined) return;
    known.set(place, holder);
    note(place, holder);
  });
}

function findings(report: Report, notLooked: string | undefined, file: string): Findings {
  const heldBy = new Map(
    growingPlaces(report).map((place) => [textOf(place), known.get(textOf(place))]),
  );
  return { report, heldBy, notLooked, notes: [`recording: ${file}    npx ebb report ${file}`] };
}

/** Nothing that fails here may end the program that is looked at. */
const failed = (error: unknown): string => `not found: ${(error as Error).message}`;

/** Where nothing can be awaited any more. */
export function findSync(tool: string, file: string): Findings {
  const report = readReportSync(tool, file);
  const asked = questions(growingPlaces(report).map(textOf));
  let reason = asked.length === 0 ? undefined : refused();
  try {
    if (asked.length > 0 && reason === undefined) {
      const groups = asked.map(([, tensors]) => tensors);
      learn(asked, findHoldingsSync(groups, true));
    }
  } catch (error) {
    reason = failed(error);
  }
  return findings(report, reason, file);
}

/** `onlyNew`: leaves out places whose holder is known, and takes no snapshot if there are no others. */
export async function find(tool: string, file: string, onlyNew = false): Promise<Findings> {
  const report = await readReport(tool, file);
  const places = growingPlaces(report).map(textOf);
  const asked = questions(onlyNew ? places.filter((place) => !known.has(place)) : places);
  let reason = asked.length === 0 ? undefined : refused();
  try {
    if (asked.length > 0 && reason === undefined) {
      const groups = asked.map(([, tensors]) => tensors);
      learn(asked, await findHoldings(groups, true));
    }
  } catch (error) {
    reason = failed(error);
  }
  return findings(report, reason, file);
}
