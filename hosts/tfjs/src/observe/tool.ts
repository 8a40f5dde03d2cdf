// The tool `ebb`, which reads recordings; it lies beside the addon.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { addonPath } from '../node/addon';
import { holdStandardStreams } from './standard_streams';

export interface Place {
  frames: string[];
  live: number;
  live_bytes: number;
  growing: boolean;
  growth_per_second: number;
  shapes: string;
  /** What the recording says holds its tensors. */
  holder?: string;
}

/** What `ebb report --json` says. */
export interface Report {
  seconds: number;
  events: number;
  lost: number;
  ended: boolean;
  /** It came to its end, and said what there is to say. */
  program_ended: boolean;
  /** As it was at the end. */
  mode: 'counters' | 'sampled' | 'full';
  growing: boolean;
  growth_per_second: number;
  level: number;
  peak: number;
  reclaimed: number;
  places: Place[];
}

/** Where the tool is; undefined: it was not built, or this platform has none. */
export function findTool(): string | undefined {
  const addon = addonPath();
  const path = addon === undefined ? '' : join(dirname(addon), 'ebb');
  return existsSync(path) ? path : undefined;
}

const OPTIONS = { encoding: 'utf8', maxBuffer: 1 << 28 } as const;
const wordsFor = (file: string): string[] => ['report', '--json', '--top', '50', file];

export async function readReport(tool: string, file: string): Promise<Report> {
  holdStandardStreams();
  const { stdout } = await promisify(execFile)(tool, wordsFor(file), OPTIONS);
  return JSON.parse(stdout) as Report;
}

export function readReportSync(tool: string, file: string): Report {
  holdStandardStreams();
  const { status, stdout, stderr, error } = spawnSync(tool, wordsFor(file), OPTIONS);
  if (error) throw error;
  if (status !== 0)
    throw new Error(stderr.trim().replace(/^ebb: /, '') || `${tool} ended with ${status}`);
  return JSON.parse(stdout) as Report;
}

/** The report as a page beside the recording; says where it is. Without it the rest is as good. */
export function writePage(tool: string, file: string): string[] {
  holdStandardStreams();
  const page = `${file.replace(/\.ebbrec$/, '')}.html`;
  const { status } = spawnSync(tool, ['report', file, '--html', page], OPTIONS);
  return status === 0 ? [`report: ${page}`] : [];
}
