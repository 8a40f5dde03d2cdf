// A GPU that runs out of memory: an error, and never a wrong number. Its process is given a limit from outside.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { launchChromium, runIn, serve } from './browsers.mjs';

const MB = 2 ** 20;

const status = (pid) => readFileSync(`/proc/${pid}/status`, 'utf8');
const parentOf = (pid) => Number(/^PPid:\s+(\d+)/m.exec(status(pid))[1]);

/** Whether a process was begun by another, directly or not. */
function descends(pid, ancestor) {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === ancestor) return true;
  return false;
}

/** The browser's own GPU process. */
function gpuProcess(browser) {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const isGpu = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('--type=gpu-process');
      if (isGpu && descends(Number(name), browser.process().pid)) return Number(name);
    } catch {
      // It has ended.
    }
  }
  throw new Error('no GPU process');
}

function limitData(pid, moreBytes) {
  const data = Number(/^VmData:\s+(\d+) kB/m.exec(status(pid))[1]) * 1024;
  execFileSync('prlimit', ['--pid', String(pid), `--data=${data + moreBytes}`]);
}

let server, origin;
before(async () => {
  ({ server, origin } = await serve());
});
after(() => server?.close());

for (const backend of ['webgl', 'webgpu']) {
  test(`${backend}: out of memory is an error`, async () => {
    const browser = await launchChromium();
    try {
      await runIn(browser, origin, 'page', 'careless', { backend, rounds: 2, wait: 'data' });
      limitData(gpuProcess(browser), 400 * MB);
      const { error, wrong, count } = await runIn(browser, origin, 'page', 'hoard', {
        backend,
        budget: 8000 * MB,
        most: 400,
      });
      assert.equal(wrong, 0, `${wrong} wrong values, ${count} tensors`);
      assert.ok(error !== undefined, `${count} tensors of 4 MB fit in 400 MB`);
      assert.match(error.code ?? '', /^EBB_(OUT_OF_MEMORY|DEVICE_ERROR)$/, error.message);
    } finally {
      await browser.close();
    }
  });
}
