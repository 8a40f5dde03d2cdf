// What `ebb.record` can be told.
export interface RecordOptions {
  /** For reports and errors; fn's own name otherwise. */
  name?: string;
  /** How many programs are kept, one for each combination of shapes, dtypes and constants. */
  cache?: number;
  /** More that the function depends on: it is recorded again where this gives something else. */
  key?: () => unknown;
  /** What operations make of constants alone is computed once (true), or in each call. */
  fold?: boolean;
  /** What no result needs is left out. */
  drop?: boolean;
  /** Elementwise operations that follow one another are one pass. */
  fuse?: boolean;
  /** Products take matrices as they were before they were transposed. */
  absorb?: boolean;
  /** Products and convolutions take a bias and an activation that follow them. */
  join?: boolean;
  /** What depends on variables alone is kept as long as they stay as they are: packed weights, for one. */
  keep?: boolean;
  /** An optimizer's step that comes last writes over its variables, where nobody else sees their data. */
  overwrite?: boolean;
  /** On the CPU, threads that help are called when a replay begins: of 40 us and more, where it takes less so. */
  share?: boolean;
  /** Results are to the bit those of fn: what may change their last bits (`join`, `share`) is left out. */
  exact?: boolean;
  /** On a GPU a replay is one launch; `false`: one for each operation. */
  graphs?: boolean;
  /** fn may look at values (`dataSync`): a replay counts where it would see the same, otherwise fn runs and is recorded. */
  guards?: boolean;
  /** Results are the same tensors in each call, with new values. */
  reuse?: boolean;
}

/** ebb_program_flags. */
const BY_NAME = 2;
const SWITCHES = {
  fold: 1,
  graphs: 4,
  fuse: 8,
  absorb: 16,
  join: 32,
  share: 256,
  drop: 512,
} as const;

const KEEPING = 64;
const OVERWRITING = 128;

/** Not with guards: where what was looked at is different, everything is to be as it was. */
export const mayOverwrite = ({ overwrite, guards }: RecordOptions): boolean =>
  overwrite !== false && guards !== true;

export function flagsOf(options: RecordOptions): number {
  let flags = options.keep === false ? BY_NAME : BY_NAME | KEEPING;
  if (mayOverwrite(options)) flags |= OVERWRITING;
  for (const [name, flag] of Object.entries(SWITCHES)) {
    if (options[name as keyof typeof SWITCHES] === false) flags |= flag;
  }
  return options.exact === true ? flags | SWITCHES.join : flags;
}
