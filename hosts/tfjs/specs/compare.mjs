// What the runs of a backend come to: counts for people, and what differs from the run without Ebb.
import { excuse, stoodStill } from './may_differ.mjs';

let faults = 0;
export function fault(text) {
  faults++;
  console.log(`  FAULT ${text}`);
}

export function faultCount() {
  return faults;
}

export function counts({ specs }) {
  const all = Object.values(specs);
  const of = (status) => all.filter((spec) => spec.status === status).length;
  return { specs: all.length, passed: of('passed'), failed: of('failed'), pending: of('pending') };
}

/** A line for people and for tools/suites.py. */
export function printCounts(where, mode, result) {
  const { specs, passed, failed, pending } = counts(result);
  const { books, collections, seconds } = result;
  const extra = books
    ? `; ${books.created} tensors, ${books.reclaimed} reclaimed, ${collections} collections forced`
    : '';
  console.log(
    `${where}, reclaim ${mode}: ${specs} specs, ${passed} passed, ${failed} failed, ${pending} pending (${seconds} s)${extra}`,
  );
}

/** They ran on what they should have run on: a backend that does not start is replaced silently. */
export function checkClass({ classes }, expected) {
  if (Object.keys(classes).join() !== expected)
    fault(`ran on ${JSON.stringify(classes)}, not on ${expected}`);
}

/** Names of the specs whose outcome differs from the run without Ebb. */
function differences(off, other) {
  const names = new Set([...Object.keys(off.specs), ...Object.keys(other.specs)]);
  return [...names].filter((name) => off.specs[name]?.status !== other.specs[name]?.status);
}

/**
 * On a GPU made of software what fails without Ebb may pass another time: time passes, and nothing else is at stake. Nor is
 * it where the GPU's clock stands still.
 */
export function withoutFailed(off, other) {
  const stood = ({ specs }, name) => name in specs && stoodStill(name, specs[name]);
  const counts = ([name]) => off.specs[name]?.status !== 'failed' && !stood(other, name);
  const kept = ({ specs, ...rest }) => ({
    ...rest,
    specs: Object.fromEntries(Object.entries(specs).filter(counts)),
  });
  return [kept(off), kept(other)];
}

/** Reclaim on, what a spec made held until it ends: nothing may differ. */
export function compareHeld(off, on) {
  for (const name of differences(off, on))
    fault(`differs with reclaim on: ${name}\n    ${on.specs[name]?.why.join('\n    ')}`);
}

/** What the engine finds in tests only, and these runs are like programs. */
const LEAK_IN_A_TEST = /^Error: Backend '\w+' has an internal memory leak/;

function failedTheCheckAlone({ status, why }) {
  return status === 'failed' && why.every((message) => LEAK_IN_A_TEST.test(message));
}

/** Where collections come in the middle of specs: counts of what a spec has dropped may. */
export function compareMidSpec(mode, off, other) {
  for (const name of differences(off, other)) {
    const { why, status } = other.specs[name] ?? { why: [] };
    const passesNow = status === 'passed' && failedTheCheckAlone(off.specs[name]);
    const reason = passesNow
      ? 'without Ebb it fails a check that the engine makes in tests only'
      : excuse(name, why);
    if (reason) console.log(`  differs, as it may (${mode}): ${name}: ${reason}`);
    else fault(`differs (${mode}): ${name}\n    ${why.join('\n    ')}`);
  }
}
