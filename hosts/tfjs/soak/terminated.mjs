// Workers that are terminated in the middle of their steps, one after the other: the books of the process balance, nothing
// of theirs is left, and resident memory comes to a plateau.
//
//   EBB_TERMINATIONS  how many (1000)
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');

const COUNT = Number(process.env.EBB_TERMINATIONS ?? 1000);
const AT_ONCE = 2;
const MB = 2 ** 20;
/** What the last quarter may have more than the second: the share, and pages that V8 has not used before. */
const PLATEAU = { share: 1.05, bytes: 32 * MB };

/** Steps without end: some tensors are held, some dropped, some disposed. */
function steps() {
  const held = [];
  for (let i = 0; ; i++) {
    const x = tf.ones([8, 8]);
    const y = tf.tidy(() => tf.relu(tf.matMul(x, x)));
    if (i % 3 === 0) x.dispose();
    if (i % 50 === 0) held.push(y);
    if (i === 20) parentPort.postMessage('at work');
  }
}

async function terminateOne(file) {
  const worker = new Worker(file);
  const [message] = await once(worker, 'message');
  assert.equal(message, 'at work');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
  await worker.terminate();
}

async function main() {
  ebb.reclaim.on();
  const live = () => ebb.memory({ everywhere: true }).live;
  const before = live();
  const resident = [];
  let done = 0;
  const one = async () => {
    for (; done < COUNT;) {
      done++;
      await terminateOne(fileURLToPath(import.meta.url));
      resident.push(process.memoryUsage().rss);
      ebb.audit();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  assert.equal(live(), before, 'tensors of terminated workers are left');
  ebb.audit();
  const most = (from, to) =>
    Math.max(...resident.slice((resident.length * from) / 4, (resident.length * to) / 4));
  const [second, last] = [most(1, 2), most(3, 4)];
  console.log(
    `note: ${done} workers terminated in mid-step, ${live()} tensors left; ` +
      `resident ${Math.round(second / MB)} MB in the second quarter, ${Math.round(last / MB)} MB in the last`,
  );
  if (COUNT >= 100) assert.ok(last <= Math.max(second * PLATEAU.share, second + PLATEAU.bytes));
}

if (isMainThread) await main();
else steps();
