#!/usr/bin/env node
// `ebb --budget 2GB --report app.js`: a program with reclaim on, unchanged.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseBytes } from '../api/budget';
import './addon';
import { parseTop } from './settings';

const USAGE = `Usage: ebb [run] [options] [--] <program.js> [arguments of the program]

Runs a Node program with reclaim on. What comes after the program is the program's.

  --budget <size>    what tensors may hold, such as 2GB; default: half of what the process may use
  --strict           throw beyond the budget instead of warning
  --trace            book the creation site of each tensor
  --report[=top]     at the end print who held what, by creation site (implies --trace)
  --no-variables     leave variables registered for ever, as TensorFlow.js does
  --help             this text
`;
/** Those of the options above that a program would hardly have. */
const OURS = /^--(budget|strict|trace|report|no-variables)(=|$)/;

function fail(message: string): never {
  process.stderr.write(`ebb: ${message}\n\n${USAGE}`);
  process.exit(2);
}

interface Plan {
  environment: NodeJS.ProcessEnv;
  program: string[];
}

/** Options of ours stand before the program; the rest is the program's. */
function plan(words: string[]): Plan {
  const environment: NodeJS.ProcessEnv = { ...process.env, EBB_RECLAIM: '1' };
  let at = words[0] === 'run' ? 1 : 0;
  for (; words[at]?.startsWith('-') && words[at] !== '--'; at++) {
    const [word, value] = (words[at] as string).split(/=(.*)/s) as [string, string | undefined];
    if (word === '--help') {
      process.stdout.write(USAGE);
      process.exit(0);
    } else if (word === '--budget') {
      environment.EBB_BUDGET = value ?? words[++at] ?? fail('--budget needs a size, such as 2GB.');
      parseBytes(environment.EBB_BUDGET);
    } else if (word === '--strict') environment.EBB_STRICT = '1';
    else if (word === '--trace') environment.EBB_TRACE = '1';
    else if (word === '--no-variables') environment.EBB_VARIABLES = '0';
    else if (word === '--report') {
      environment.EBB_TRACE = '1';
      environment.EBB_REPORT = String(parseTop(value ?? '10', '--report'));
    } else fail(`unknown option ${word}.`);
  }
  const program = words.slice(words[at] === '--' ? at + 1 : at);
  const [file, ...rest] = program;
  if (file === undefined) fail('no program given.');
  const misplaced = rest.find((word) => OURS.test(word));
  if (misplaced !== undefined && words[at] !== '--') {
    process.stderr.write(
      `ebb: ${misplaced} goes to ${file}; for Ebb it stands before: ebb ${misplaced} ${file}\n`,
    );
  }
  return { environment, program };
}

function main(): void {
  let chosen: Plan;
  try {
    chosen = plan(process.argv.slice(2));
  } catch (error) {
    fail((error as Error).message);
  }
  const auto = pathToFileURL(join(__dirname, '..', 'auto.js')).href;
  const child = spawn(process.execPath, ['--import', auto, ...chosen.program], {
    // Where a parent listens, the program talks to it as if Ebb were not between them.
    stdio: ['inherit', 'inherit', 'inherit', ...(process.send ? (['ipc'] as const) : [])],
    env: chosen.environment,
  });
  if (process.send) {
    child.on('disconnect', () => setImmediate(() => process.connected && process.disconnect()));
    child.on('message', (message) => process.send?.(message));
    process.on('message', (message) => child.send(message as object));
    process.on('disconnect', () => setImmediate(() => child.connected && child.disconnect()));
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

main();
