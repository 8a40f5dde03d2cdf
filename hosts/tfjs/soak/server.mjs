// A server that answers predictions with careless handlers, for ten minutes: its resident memory must come to a
// plateau and every answer must be right. A short run without reclaim comes first, to show that these handlers leak.
//
//   EBB_SOAK_SECONDS  how long (600)
//   EBB_SOAK_BACKEND  cpu or wasm (wasm)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { answer, INPUTS } = createRequire(import.meta.url)('./network.cjs');
const here = dirname(fileURLToPath(import.meta.url));
const MB = 2 ** 20;
const SECONDS = Number(process.env.EBB_SOAK_SECONDS ?? 600);
const BACKEND = process.env.EBB_SOAK_BACKEND ?? 'wasm';
const CLASSES = { cpu: 'MathBackendCPU', wasm: 'BackendWasm' };
const CONTROL_SECONDS = Math.min(10, SECONDS / 10);
const CLIENTS = 8;
const TOLERANCE = 1e-5;
/** So many results the server holds on to. */
const CACHED = 20;
/** What the second half of a run may have more than its second quarter: pages that V8 has not used before. */
const PLATEAU_SHARE = 0.05;
const PLATEAU_BYTES = 8 * MB;

const agent = new http.Agent({ keepAlive: true });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function start(flags) {
  const child = spawn(process.execPath, [...flags, join(here, 'careless_server.cjs'), BACKEND], {
    cwd: join(here, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the server ended (${signal ?? code})`);
  });
  gone.catch(() => {}); // it is ended on purpose, later
  const [port] = await Promise.race([once(child.stdout, 'data'), gone]);
  return { child, port: Number(port), gone };
}

function ask(port, path, rows) {
  return new Promise((resolve, reject) => {
    const method = rows ? 'POST' : 'GET';
    const request = http.request(
      { host: '127.0.0.1', port, path, method, agent },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode, result: JSON.parse(text) });
      },
    );
    request.on('error', reject);
    request.end(rows && JSON.stringify(rows));
  });
}

function wrong(rows, result) {
  return rows.some((row, r) =>
    answer(row).some((value, k) => !(Math.abs(value - result[r]?.[k]) <= TOLERANCE)),
  );
}

/** One client: asks again and again, checks each answer. */
async function client(port, until, counts) {
  for (let i = 0; performance.now() < until; i++) {
    const rows = Array.from({ length: 1 + (i % 32) }, () =>
      Array.from({ length: INPUTS }, () => Math.random() - 0.5),
    );
    const path = i % 50 === 49 ? '/fails' : i % 2 ? '/model' : '/hand';
    const { status, result } = await ask(port, path, rows);
    const expected = path === '/fails' ? status === 500 : status === 200 && !wrong(rows, result);
    counts[expected ? 'right' : 'wrong']++;
  }
}

const residentOf = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

/** Runs the server under load; its memory is looked at from outside, ten times a second at most. */
async function load(flags, seconds) {
  const { child, port, gone } = await start(flags);
  try {
    const counts = { right: 0, wrong: 0 };
    const before = (await ask(port, '/memory')).result;
    if (before.backend !== CLASSES[BACKEND])
      throw new Error(`ran on ${before.backend}, not on ${CLASSES[BACKEND]}`);
    const samples = [];
    const sampler = setInterval(() => samples.push(residentOf(child.pid)), Math.max(100, seconds));
    const until = performance.now() + seconds * 1000;
    const progress = setInterval(
      () => show(samples, counts),
      Math.max(2000, (seconds * 1000) / 10),
    );
    await Promise.race([
      gone,
      Promise.all(Array.from({ length: CLIENTS }, () => client(port, until, counts))),
    ]);
    clearInterval(sampler);
    clearInterval(progress);
    const busy = (await ask(port, '/memory')).result.tensors - before.tensors;
    await sleep(2500);
    const quiet = (await ask(port, '/memory')).result.tensors - before.tensors;
    return { counts, samples, busy, quiet };
  } finally {
    child.kill();
  }
}

function show(samples, { right, wrong: bad }) {
  console.log(
    `  ${right + bad} answers, ${bad} wrong, ${Math.round((samples.at(-1) ?? 0) / MB)} MB resident`,
  );
}

const most = (numbers) => numbers.reduce((a, b) => Math.max(a, b), 0);

function quarter(samples, from, to) {
  return most(samples.slice((samples.length * from) / 4, (samples.length * to) / 4));
}

let bad = 0;
function expect(ok, text) {
  if (!ok) bad++;
  console.log(`${ok ? 'ok   ' : 'FAULT'} ${text}`);
}

console.log(`server on ${BACKEND}, reclaim off, ${CONTROL_SECONDS} s`);
const control = await load([], CONTROL_SECONDS);
expect(
  control.quiet > control.counts.right,
  `without reclaim it leaks: ${control.quiet} tensors left after ${control.counts.right} answers`,
);

console.log(`server on ${BACKEND}, reclaim on, ${SECONDS} s`);
const { counts, samples, busy, quiet } = await load(['--import', 'ebb-tfjs/auto'], SECONDS);
const settled = quarter(samples, 1, 2);
const later = quarter(samples, 2, 4);
expect(
  counts.right > 0 && counts.wrong === 0,
  `${counts.right} answers right, ${counts.wrong} wrong`,
);
expect(
  later <= settled * (1 + PLATEAU_SHARE) + PLATEAU_BYTES,
  `resident memory: ${Math.round(settled / MB)} MB at most in the second quarter, ${Math.round(later / MB)} MB in the second half`,
);
expect(quiet <= CACHED, `${busy} tensors more than at the start while busy, ${quiet} once quiet`);
process.exit(bad === 0 ? 0 : 1);
