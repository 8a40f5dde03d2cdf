// Processes, as Linux tells of them: a browser's GPU process, what a process holds, and a limit for it.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

const status = (pid) => readFileSync(`/proc/${pid}/status`, 'utf8');
const parentOf = (pid) => Number(/^PPid:\s+(\d+)/m.exec(status(pid))[1]);

/** A figure of a process in bytes, by Linux's name for it. */
function bytesOf(pid, name) {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status(pid))[1]) * 1024;
}

/** Whether a process was begun by another, directly or not. */
function descends(pid, ancestor) {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === ancestor) return true;
  return false;
}

/** The process that has the browser's GPU memory: one of its own in Chromium, in Firefox on Linux the first. */
export function gpuProcess(browser) {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const isGpu = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('--type=gpu-process');
      if (isGpu && descends(Number(name), browser.process().pid)) return Number(name);
    } catch {
      // It has ended.
    }
  }
  const first = browser.process().pid;
  if (!readFileSync(`/proc/${first}/cmdline`, 'utf8').includes('firefox'))
    throw new Error('no GPU process');
  return first;
}

export function residentBytes(pid) {
  return bytesOf(pid, 'VmRSS');
}

/** What comes of `work`, and the most that a process had while it ran and at its end. */
export async function whileWatched(pid, work) {
  let most = 0;
  const look = () => (most = Math.max(most, residentBytes(pid)));
  const timer = setInterval(look, 50);
  try {
    const result = await work();
    look();
    return { most, result };
  } finally {
    clearInterval(timer);
  }
}

/** Lets a process have so much more than it has now, until what this returns is called. */
export function limitData(pid, moreBytes) {
  const limitTo = (limit) => execFileSync('prlimit', ['--pid', String(pid), `--data=${limit}:`]);
  limitTo(bytesOf(pid, 'VmData') + moreBytes);
  return () => limitTo('unlimited');
}
