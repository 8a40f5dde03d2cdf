// Node's GPUs for tests: each program in a process of its own, on a GPU made of software.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SWIFTSHADER } from './dawn.mjs';

const PROGRAM = fileURLToPath(new URL('program.mjs', import.meta.url));
const X_SERVER = ['xvfb-run', '--auto-servernum', '--server-args=-screen 0 64x64x24'];

/** What to start a process with, so that it finds the backend's GPU. */
export const around = { webgpu: [], webgl: X_SERVER };
export const gpuEnvironment = { ...process.env, VK_DRIVER_FILES: SWIFTSHADER };

/** What a program gives. `limit`: what goes before the command, `prlimit ...`. */
export function runOnGpu(backend, name, options = {}, limit = []) {
  const words = [
    ...around[backend],
    ...limit,
    process.execPath,
    PROGRAM,
    backend,
    name,
    JSON.stringify(options),
  ];
  const { stdout, stderr, status, signal } = spawnSync(words[0], words.slice(1), {
    env: gpuEnvironment,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name} on ${backend}: ${signal ?? status}\n${stderr}`);
  const { result, error } = JSON.parse(stdout.trim().split('\n').at(-1));
  if (error !== undefined) throw new Error(`${error}\n${stderr}`);
  return { ...result, said: stderr };
}
