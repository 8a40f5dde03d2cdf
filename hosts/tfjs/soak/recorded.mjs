// Random functions, recorded and not: what they give, and what they leave in variables, optimizers and tensors from outside,
// is the same in each call, whatever happens to these between calls.
//
//   node soak/recorded.mjs [seed]       EBB_SOAK_SECONDS says for how long (60)
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const tf = require('ebb-tfjs/backend');
const ebb = require('ebb-tfjs');

const VARIABLES = 3;
const OUTSIDE = 2;
const CALLS = 7;
const SHAPE = [2, 2];

/** The usual generator, so that a seed is a run. */
function randomOf(seed) {
  let state = seed >>> 0;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const below = (count) => Math.floor(next() * count);
  return { next, below, one: (list) => list[below(list.length)] };
}

const OPERATIONS = [
  (a, b) => a.add(b),
  (a, b) => a.sub(b),
  (a, b) => a.mul(b).mul(0.5),
  (a, b) => a.matMul(b).mul(0.25),
  (a, b) => a.maximum(b),
  (a, b) => tf.where(a.greater(b), a, b),
  (a, b) => tf.concat([a, b], 0).split(2, 0)[1],
  (a, b) => tf.stack([a, b]).unstack()[0],
  (a, b) => tf.grad((z) => z.mul(b).tanh().sum())(a),
  (a) => a.tanh(),
  (a) => a.relu(),
  (a) => a.transpose(),
  (a) => a.clone(),
  (a) => a.reshape([4]).reshape(SHAPE),
  (a) => a.slice([0, 0], SHAPE),
  (a) => a.slice([1, 0], [1, 2]).tile([2, 1]),
  (a) => a.sum(1, true).mul(tf.ones(SHAPE)),
  (a) => a.add(NaN).relu().mul(0).add(a),
  (a) => a.add(tf.tensor2d([1, -0, 0, 4], SHAPE)),
];
const OPTIMIZERS = [
  () => tf.train.sgd(0.1),
  () => tf.train.adam(0.1),
  () => tf.train.momentum(0.1, 0.9),
];
const OPTIONS = [
  {},
  { reuse: true },
  { drop: false },
  { fold: false },
  { keep: false },
  { overwrite: false },
  { fuse: false },
];

/** What a function does, in steps that name what is there: two arguments, tensors from outside, and results so far. */
function plan(random) {
  const steps = [];
  let known = 2 + OUTSIDE;
  for (let i = 2 + random.below(9); i > 0; i--) {
    const kind = random.next();
    const [of, other] = [random.below(known), random.below(known)];
    const variable = random.below(VARIABLES);
    if (kind < 0.25) steps.push({ read: variable });
    else if (kind < 0.45) steps.push({ assign: variable, of });
    else if (kind < 0.5) steps.push({ update: variable, of });
    else steps.push({ run: random.below(OPERATIONS.length), of, other });
    if (kind < 0.25 || kind >= 0.5) known++;
  }
  return { steps, results: [random.below(known), random.below(known)] };
}

/** One of two that have the same story. */
class World {
  constructor(random, optimizer) {
    const square = () => tf.tensor2d(numbers(random), SHAPE);
    this.variables = Array.from({ length: VARIABLES }, () => tf.tidy(() => tf.variable(square())));
    this.outside = Array.from({ length: OUTSIDE }, square);
    this.optimizer = optimizer();
    this.held = [];
  }

  run({ steps, results }, x, y) {
    const known = [x, y, ...this.outside];
    for (const step of steps) {
      if ('read' in step) known.push(this.variables[step.read]);
      else if ('run' in step) {
        known.push(OPERATIONS[step.run](known[step.of], known[step.other]));
      } else if ('assign' in step) {
        const [variable, value] = [this.variables[step.assign], known[step.of]];
        if (variable !== value) variable.assign(value);
      } else {
        const [variable, to] = [this.variables[step.update], known[step.of]];
        const loss = () => variable.sub(to).square().mean();
        this.optimizer.minimize(loss, false, [variable]);
      }
    }
    return results.map((at) => known[at].mul(1));
  }

  /** Something between calls. */
  change({ kind, variable, other, value }) {
    const v = this.variables[variable];
    const from = this.variables[(variable + 1 + other) % VARIABLES];
    tf.tidy(() => {
      if (kind === 0) v.assign(tf.tensor2d(value, SHAPE));
      else if (kind === 1 && from !== v) v.assign(from);
      else if (kind === 2) v.assign(this.outside[other]);
      else if (kind === 3) this.held.push(tf.keep(v.clone()));
      else if (kind === 4) v.assign(from.slice([0, 0], SHAPE));
    });
  }

  /** All that can be seen of it. */
  seen() {
    const weights = [...this.variables, ...this.outside, ...this.held];
    return weights.map((each) => Array.from(each.dataSync()));
  }

  end() {
    tf.dispose([this.variables, this.outside, this.held]);
    this.optimizer.dispose();
  }
}

const numbers = (random) => Array.from({ length: 4 }, () => Math.round(random.next() * 32) / 8 - 2);
const isSame = (a, b) => JSON.stringify(a, exact) === JSON.stringify(b, exact);
/** As text to the bit: JSON has neither NaN nor -0. */
const exact = (_, value) =>
  typeof value === 'number' && (value !== value || Object.is(value, -0))
    ? String([value, 1 / value])
    : value;

/** One function in two worlds; throws where they come to differ. */
function live(seed) {
  const random = randomOf(seed);
  for (let i = 0; i < 3; i++) random.next();
  const made = plan(random);
  const optimizer = random.one(OPTIMIZERS);
  const options = { ...random.one(OPTIONS), exact: true, cache: 3 };
  const start = random.below(2 ** 31);
  const [plain, other] = [0, 1].map(() => new World(randomOf(start), optimizer));
  const recorded = ebb.record((x, y) => other.run(made, x, y), options);
  for (let call = 0; call < CALLS; call++) {
    for (let i = random.below(3); i > 0; i--) {
      const [kind, variable] = [random.below(6), random.below(VARIABLES)];
      const change = { kind, variable, other: random.below(2), value: numbers(random) };
      for (const world of [plain, other]) world.change(change);
    }
    const [x, y] = [0, 1].map(() => tf.tensor2d(numbers(random), SHAPE));
    const given = random.next() < 0.2 ? [x, x] : [x, y];
    const results = [tf.tidy(() => plain.run(made, ...given)), recorded(...given)];
    const [ours, theirs] = results.map((all, i) => [
      ...all.map((each) => Array.from(each.dataSync())),
      ...[plain, other][i].seen(),
    ]);
    if (!isSame(ours, theirs)) {
      const what = JSON.stringify({ seed, call, made, options, ours, theirs }, null, 1);
      throw new Error(`a recorded function differs: ${what}`);
    }
    tf.dispose(results[0]);
    if (!options.reuse || recorded.info().replayed === 0) tf.dispose(results[1]);
    tf.dispose([x, y]);
  }
  const { calls, replayed } = recorded.info();
  recorded.dispose();
  plain.end();
  other.end();
  return { calls, replayed };
}

/** Functions from this seed on; how many there were, with how many calls. */
export function recordedFunctions(seed, { functions = Infinity, seconds = Infinity }) {
  const end = Date.now() + seconds * 1000;
  const done = { functions: 0, calls: 0, replayed: 0 };
  while (done.functions < functions && Date.now() < end) {
    const { calls, replayed } = live(seed + done.functions);
    done.functions++;
    done.calls += calls;
    done.replayed += replayed;
  }
  ebb.audit();
  return done;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const seed = Number(process.argv[2] ?? Date.now() % 2 ** 31);
  console.log(`seed ${seed}`);
  const seconds = Number(process.env.EBB_SOAK_SECONDS ?? 60);
  const { functions, calls, replayed } = recordedFunctions(seed, { seconds });
  console.log(`${functions} functions, ${calls} calls, ${replayed} of them replayed`);
}
