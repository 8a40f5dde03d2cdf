#!/usr/bin/env node
// `ebb run app.js`: a program with reclaim on and recorded, unchanged. `ebb app.js`: reclaim alone. The rest is the
// tool's, which reads recordings.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, lstatSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseBytes } from '../api/budget';
import { modeNumber } from '../api/recording';
import { badArgument } from '../errors';
import { sayOfKilled } from '../observe/killed';
import { findTool } from '../observe/tool';
import './addon';
import { parseTop } from './settings';

const USAGE = `Usage: ebb [run] [options] [--] <program.js> [arguments of the program]
       ebb <command of the tool> ...

Runs a Node program with reclaim on. With 'run' it is recorded as well, and at the end ebb says whether memory grew,
which line made it grow and what holds it. What comes after the program is the program's.

  --budget <size>    what tensors may hold, such as 2GB; default: half of what the process may use
  --strict           throw beyond the budget instead of warning
  --trace            book the creation site of each tensor
  --report[=top]     at the end print who held what, by creation site (implies --trace)
  --no-variables     leave variables registered for ever, as TensorFlow.js does
  --help             this text

with run:
  --mode <mode>      counters, sampled (the default) or full: the place of every tensor
  --max <size>       what the recording may take on disk, such as 256MB
  --out <file>       the recording; default: <program>.ebbrec
  --why, --no-why    look for holders also in a heap of more than 1 GB; never look

The tool's commands read recordings and look at processes that are recorded: report, why, diff, check, export, top,
view, list; 'ebb report --help' says more.
`;
/** Those of the options above that a program would hardly have. */
const OURS = /^--(budget|strict|trace|report|no-variables)(=|$)/;
/** Commands of the tool. A program of such a name is run by 'ebb run NAME'. */
const COMMANDS = new Set([
  'report',
  'why',
  'diff',
  'check',
  'export',
  'top',
  'view',
  'list',
  '--version',
]);

function fail(message: string): never {
  process.stderr.write(`ebb: ${message}\n\n${USAGE}`);
  process.exit(2);
}

interface Plan {
  environment: NodeJS.ProcessEnv;
  program: string[];
}

type Apply = (environment: NodeJS.ProcessEnv, value: string) => void;
interface Option {
  /** What its value is called; undefined: it has none. */
  value?: string;
  /** The value where none is given. */
  otherwise?: string;
  apply: Apply;
}

const switches = (name: string, to: string): Option => ({
  apply: (environment) => (environment[name] = to),
});

function checkedSize(name: string, what: string, least = 0): Option {
  return {
    value: 'a size, such as 2GB',
    apply: (environment, value) => {
      if (parseBytes(value, what) < least)
        throw badArgument(what, value, `at least ${least} bytes`);
      environment[name] = value;
    },
  };
}

/** What the core needs for one that keeps to a limit. */
const LEAST_RECORDING = 512 << 10;

const OPTIONS: Record<string, Option> = {
  '--budget': checkedSize('EBB_BUDGET', 'budget'),
  '--strict': switches('EBB_STRICT', '1'),
  '--trace': switches('EBB_TRACE', '1'),
  '--no-variables': switches('EBB_VARIABLES', '0'),
  '--report': {
    otherwise: '10',
    apply: (environment, value) => {
      environment.EBB_TRACE = '1';
      environment.EBB_REPORT = String(parseTop(value, '--report'));
    },
  },
};

const RUN_OPTIONS: Record<string, Option> = {
  ...OPTIONS,
  '--mode': {
    value: 'counters, sampled or full',
    apply: (environment, value) => {
      modeNumber('--mode', value);
      environment.EBB_RECORD = value;
    },
  },
  '--max': checkedSize('EBB_RECORD_MAX', '--max', LEAST_RECORDING),
  '--out': {
    value: 'a file',
    apply: (environment, value) => (environment.EBB_RECORD_OUT = value),
  },
  '--why': switches('EBB_WHY', '1'),
  '--no-why': switches('EBB_WHY', '0'),
};

/** Where the recording goes: where it was asked for, the working folder, or the temporary one. */
function recordingOf(program: string[], asked: string | undefined): string {
  const script = program.find((word) => !word.startsWith('-')) ?? 'node';
  const path = resolve(asked ?? `${basename(script).replace(/\.[cm]?[jt]s$/, '')}.ebbrec`);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
    fail(`${path} is no regular file; --out names another.`);
  try {
    accessSync(dirname(path), constants.W_OK);
    return path;
  } catch {
    if (asked !== undefined) fail(`--out: the folder of ${asked} cannot be written.`);
    return join(tmpdir(), `${basename(path, '.ebbrec')}.${process.pid}.ebbrec`);
  }
}

/** Before anything is recorded of it: as Node looks for its program. One that begins with an option is Node's to judge. */
function isThere(program: string): boolean {
  if (program.startsWith('-')) return true;
  try {
    require.resolve(resolve(program));
    return true;
  } catch {
    return existsSync(program) && !statSync(program).isDirectory();
  }
}

/** Options of ours stand before the program; the rest is the program's. */
function plan(words: string[]): Plan {
  const recorded = words[0] === 'run';
  const environment: NodeJS.ProcessEnv = { ...process.env, EBB_RECLAIM: '1' };
  delete environment.EBB_RECORD_OUT;
  if (recorded) {
    environment.EBB_RECORD = 'sampled';
    environment.EBB_RECORD_FOR = String(process.pid);
  }
  const options = recorded ? RUN_OPTIONS : OPTIONS;
  let at = recorded ? 1 : 0;
  for (; words[at]?.startsWith('-') && words[at] !== '--'; at++) {
    const [word, given] = (words[at] as string).split(/=(.*)/s) as [string, string | undefined];
    if (word === '--help') {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    const option = Object.hasOwn(options, word) ? options[word] : undefined;
    if (option === undefined)
      fail(
        `unknown option ${word}${Object.hasOwn(RUN_OPTIONS, word) ? "; it goes with 'run'" : ''}.`,
      );
    const { value, otherwise = '', apply } = option;
    apply(
      environment,
      given ?? (value === undefined ? otherwise : (words[++at] ?? fail(`${word} needs ${value}.`))),
    );
  }
  const program = words.slice(words[at] === '--' ? at + 1 : at);
  const [file, ...rest] = program;
  if (file === undefined) fail('no program given.');
  if (recorded && !isThere(file)) fail(`there is no program ${file}.`);
  if (recorded) environment.EBB_RECORD_OUT = recordingOf(program, environment.EBB_RECORD_OUT);
  const misplaced = rest.find((word) => OURS.test(word));
  if (misplaced !== undefined && words[at] !== '--') {
    process.stderr.write(
      `ebb: ${misplaced} goes to ${file}; for Ebb it stands before: ebb ${misplaced} ${file}\n`,
    );
  }
  return { environment, program };
}

/** Node ends so, and asks no exit handler, where a handler of uncaught exceptions throws: TensorFlow.js's wasm backend has one. */
const SILENT_EXIT = 7;
/** Pressed again after this long, an interrupt is meant for a program that does not listen. */
const INSIST_MS = 1000;

/** As the other process did. */
function endLike(code: number | null, signal: NodeJS.Signals | null): void {
  if (signal === null) process.exit(code ?? 2);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

function run({ environment, program }: Plan): void {
  const { EBB_RECORD_OUT: file } = environment;
  const begun = Date.now();
  const auto = pathToFileURL(join(__dirname, '..', 'auto.js')).href;
  const child = spawn(process.execPath, ['--import', auto, ...program], {
    // Where a parent listens, the program talks to it as if Ebb were not between them.
    stdio: ['inherit', 'inherit', 'inherit', ...(process.send ? (['ipc'] as const) : [])],
    env: environment,
  });
  if (process.send) {
    child.on('disconnect', () => setImmediate(() => process.connected && process.disconnect()));
    child.on('message', (message) => process.send?.(message));
    process.on('message', (message) => child.send(message as object));
    process.on('disconnect', () => setImmediate(() => child.connected && child.disconnect()));
  }
  let interrupted = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) {
    process.on(signal, () => {
      const insists =
        signal === 'SIGINT' && interrupted !== 0 && Date.now() - interrupted > INSIST_MS;
      if (signal === 'SIGINT') interrupted ||= Date.now();
      // Recorded, the program hears of it in JavaScript, and one that never waits never does.
      child.kill(insists && file !== undefined ? 'SIGKILL' : signal);
    });
  }
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => {
    if (file !== undefined && signal !== null) sayOfKilled(file, begun, signal);
    if (file !== undefined && code === SILENT_EXIT) sayOfKilled(file, begun, `exit code ${code}`);
    endLike(code, signal);
  });
}

/** The tool, with all the words. */
function passOn(words: string[]): void {
  const tool = findTool();
  if (tool === undefined) {
    process.stderr.write(
      'ebb: the tool that reads recordings is not there; it lies beside the addon.\n',
    );
    process.exit(2);
  }
  const child = spawn(tool, words, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(error.message));
  child.on('exit', endLike);
}

function main(words: string[]): void {
  if (COMMANDS.has(words[0] ?? '')) return passOn(words);
  let chosen: Plan;
  try {
    chosen = plan(words);
  } catch (error) {
    fail((error as Error).message);
  }
  run(chosen);
}

main(process.argv.slice(2));
