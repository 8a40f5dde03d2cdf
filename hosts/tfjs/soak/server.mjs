// A server that answers predictions with careless handlers, for ten minutes, with a budget of 1.2 x what it holds on
// to: its resident memory must come to a plateau and every answer must be right. Two short runs come first: without
// reclaim, to show that these handlers leak, and without a budget, to see what the server holds.
//
//   EBB_SOAK_SECONDS   how long (600)
//   EBB_SOAK_BACKEND   cpu or wasm (wasm)
//   EBB_SOAK_PAUSE_MS  how long each client waits before it asks again (0)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { answer, entry, INPUTS, TABLE } = createRequire(import.meta.url)('./network.cjs');
const here = dirname(fileURLToPath(import.meta.url));
const MB = 2 ** 20;
const SECONDS = Number(process.env.EBB_SOAK_SECONDS ?? 600);
const BACKEND = process.env.EBB_SOAK_BACKEND ?? 'wasm';
const PAUSE_MS = Number(process.env.EBB_SOAK_PAUSE_MS ?? 0);
const CLASSES = { cpu: 'MathBackendCPU', wasm: 'BackendWasm' };
const CONTROL_SECONDS = Math.min(10, SECONDS / 10);
const CLIENTS = 8;
const TOLERANCE = 1e-5;
/** So many results the server holds on to. */
const CACHED = 20;
/** The budget, of what the server holds once it is quiet. */
const BUDGET_SHARE = 1.2;
/** What the last quarter of a run may have more than its second: less in an hour, in which V8 has used its pages before. */
const PLATEAU_SHARE = SECONDS >= 3600 ? 0.02 : 0.05;

const agent = new http.Agent({ keepAlive: true });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function start(flags, environment) {
  const child = spawn(process.execPath, [...flags, join(here, 'careless_server.cjs'), BACKEND], {
    cwd: join(here, '..'),
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the server ended (${signal ?? code})`);
  });
  gone.catch(() => {}); // it is ended on purpose, later
  const [port] = await Promise.race([once(child.stdout, 'data'), gone]);
  return { child, port: Number(port), gone };
}

function ask(port, path, body) {
  return new Promise((resolve, reject) => {
    const method = body ? 'POST' : 'GET';
    const request = http.request(
      { host: '127.0.0.1', port, path, method, agent },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode, result: JSON.parse(text) });
      },
    );
    request.on('error', reject);
    request.end(body && JSON.stringify(body));
  });
}

/** What is asked, and what has to be answered; nothing: an error. */
function question(i) {
  const count = 1 + (i % 32);
  if (i % 5 === 4) {
    const part = i % TABLE.parts;
    const rows = Array.from({ length: count }, (_, k) => (17 * i + k) % TABLE.rows);
    const values = (row) => Array.from({ length: TABLE.columns }, (_, k) => entry(part, row, k));
    return { path: '/table', body: [part, ...rows], expected: rows.map(values) };
  }
  const body = Array.from({ length: count }, () =>
    Array.from({ length: INPUTS }, () => Math.random() - 0.5),
  );
  if (i % 50 === 48) return { path: '/fails', body };
  return { path: i % 2 ? '/model' : '/hand', body, expected: body.map(answer) };
}

const isRight = (expected, result) =>
  result.length === expected.length &&
  expected.every((row, r) =>
    row.every((value, k) => Math.abs(value - result[r]?.[k]) <= TOLERANCE),
  );

/** One client: asks again and again, checks each answer. */
async function client(port, until, counts) {
  for (let i = 0; performance.now() < until; i++) {
    const { path, body, expected } = question(i);
    const { status, result } = await ask(port, path, body);
    const good = expected ? status === 200 && isRight(expected, result) : status === 500;
    counts[good ? 'right' : 'wrong']++;
    if (PAUSE_MS > 0) await sleep(PAUSE_MS);
  }
}

const residentOf = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

/** Runs the server under load; its memory is looked at from outside, ten times a second at most. */
async function load(flags, seconds, environment = {}) {
  const { child, port, gone } = await start(flags, environment);
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
    const { tensors, bytes } = (await ask(port, '/memory')).result;
    return { counts, samples, busy, quiet: tensors - before.tensors, bytes };
  } finally {
    child.kill();
  }
}

function show(samples, { right, wrong: bad }) {
  console.log(
    `  ${right + bad} answers, ${bad} wrong, ${Math.round((samples.at(-1) ?? 0) / MB)} MB resident`,
  );
}

/** The most and the mean of one quarter of the samples, in MB. */
function quarter(samples, n) {
  const some = samples.slice(((n - 1) * samples.length) / 4, (n * samples.length) / 4);
  const most = some.reduce((a, b) => Math.max(a, b), 0);
  const mean = some.reduce((a, b) => a + b, 0) / some.length;
  return { most: most / MB, mean: mean / MB };
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

console.log(`server on ${BACKEND}, reclaim on, ${CONTROL_SECONDS} s`);
const RECLAIM = ['--import', 'ebb-tfjs/auto'];
const held = (await load(RECLAIM, CONTROL_SECONDS)).bytes;
const budget = Math.ceil(BUDGET_SHARE * held);

console.log(`server on ${BACKEND}, reclaim on, ${SECONDS} s, ${(held / MB).toFixed(1)} MB held`);
const run = await load(RECLAIM, SECONDS, { EBB_BUDGET: String(budget) });
expect(
  run.counts.right > 0 && run.counts.wrong === 0,
  `${run.counts.right} answers right, ${run.counts.wrong} wrong, budget ${(budget / MB).toFixed(1)} MB`,
);
const quarters = [1, 2, 3, 4].map((n) => quarter(run.samples, n));
const [, second, , last] = quarters;
expect(
  last.most <= second.most * (1 + PLATEAU_SHARE),
  `resident memory by quarter: at most ${quarters.map(({ most }) => most.toFixed(1)).join(', ')} MB, ` +
    `mean ${quarters.map(({ mean }) => mean.toFixed(1)).join(', ')} MB; ` +
    `last / second ${(last.most / second.most).toFixed(3)} x`,
);
expect(
  run.quiet <= CACHED,
  `${run.busy} tensors more than at the start while busy, ${run.quiet} once quiet`,
);
process.exit(bad === 0 ? 0 : 1);
