#!/usr/bin/env node
// `ebb app.js --budget 2GB --report`: a program with reclaim on, unchanged.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseBytes } from './budget';
import { parseTop } from './settings';

const USAGE = `Usage: ebb [options] <program.js> [arguments of the program]

Runs a Node program with reclaim on.

  --budget <size>    what tensors may hold, such as 2GB; default: half of what the process may use
  --strict           throw beyond the budget instead of warning
  --trace            book the creation site of each tensor
  --report[=top]     at the end print who held what, by creation site (implies --trace)
  --no-variables     leave variables registered for ever, as TensorFlow.js does
  --help             this text
`;

function fail(message: string): never {
  process.stderr.write(`ebb: ${message}\n\n${USAGE}`);
  process.exit(2);
}

interface Plan {
  environment: NodeJS.ProcessEnv;
  program: string[];
}

/** Options of ours may stand before or after the program; the rest is the program's. */
function plan(words: string[]): Plan {
  const environment: NodeJS.ProcessEnv = { ...process.env, EBB_RECLAIM: '1' };
  const program: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const [word, value] = (words[i] as string).split(/=(.*)/s) as [string, string | undefined];
    if (word === '--help') {
      process.stdout.write(USAGE);
      process.exit(0);
    } else if (word === '--budget') {
      environment.EBB_BUDGET = value ?? words[++i] ?? fail('--budget needs a size, such as 2GB.');
      parseBytes(environment.EBB_BUDGET as string);
    } else if (word === '--strict') environment.EBB_STRICT = '1';
    else if (word === '--trace') environment.EBB_TRACE = '1';
    else if (word === '--no-variables') environment.EBB_VARIABLES = '0';
    else if (word === '--report') {
      environment.EBB_TRACE = '1';
      environment.EBB_REPORT = String(parseTop(value ?? '10', '--report'));
    } else if (program.length === 0 && word.startsWith('-')) fail(`unknown option ${word}.`);
    else program.push(words[i] as string);
  }
  if (program.length === 0) fail('no program given.');
  return { environment, program };
}

function main(): void {
  let chosen: Plan;
  try {
    chosen = plan(process.argv.slice(2));
  } catch (error) {
    fail((error as Error).message);
  }
  const auto = pathToFileURL(join(__dirname, 'auto.js')).href;
  const child = spawn(process.execPath, ['--import', auto, ...chosen.program], {
    stdio: 'inherit',
    env: chosen.environment,
  });
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
