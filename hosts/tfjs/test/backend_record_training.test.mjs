// Recorded steps of training where something about their optimizer or their variables changes from call to call: what they
// do is what the functions do.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ebb, leavesNothing, tf, values } from './backend_support.mjs';

const variable = (value) => tf.tidy(() => tf.variable(tf.tensor1d([value, -value])));

/** Runs both with and without a recorded step, and compares what they give; `reasons` are those of the recorded one. */
async function compares(world, reasons) {
  const outcomes = [];
  for (const isRecorded of [false, true]) {
    const { step, run, held } = world();
    const fast = isRecorded ? ebb.record(step) : () => tf.tidy(step);
    outcomes.push(await run(() => tf.dispose(fast())));
    if (isRecorded) {
      assert.deepEqual(Object.keys(fast.info().reasons), reasons);
      assert.ok(fast.info().replayed > 3, JSON.stringify(fast.info()));
      fast.dispose();
    }
    held.forEach((each) => each.dispose());
  }
  assert.deepEqual(outcomes[1], outcomes[0]);
}

const BEGAN = 'it made variables, as first steps of optimizers do';

describe('a recorded step', () => {
  leavesNothing();

  const FROZEN = 'trainable of a variable changed';
  for (const listed of [true, false]) {
    test(`leaves alone what is frozen later, variables ${listed ? 'listed' : 'not listed'}`, () =>
      compares(() => {
        const [v, w] = [variable(1), variable(2)];
        const optimizer = tf.train.sgd(0.1);
        const loss = () => v.square().sum().add(w.square().sum());
        return {
          held: [v, w, optimizer],
          step: () => optimizer.minimize(loss, true, listed ? [v, w] : undefined),
          run: (step) => {
            const all = [];
            for (let i = 0; i < 12; i++) {
              w.trainable = i < 3 || i > 7;
              step();
              all.push(values(v), values(w));
            }
            return all;
          },
        };
      }, [FROZEN]));
  }

  test('trains what was frozen at first, also where nothing else needs its values', () =>
    compares(() => {
      const [v, w] = [variable(1), variable(2)];
      w.trainable = false;
      const optimizer = tf.train.sgd(0.1);
      const loss = () => v.square().sum().add(w.square().sum());
      return {
        held: [v, w, optimizer],
        step: () => optimizer.minimize(loss, false, [v, w]),
        run: (step) => {
          for (let i = 0; i < 4; i++) step();
          w.trainable = true;
          for (let i = 0; i < 4; i++) step();
          return [values(v), values(w)];
        },
      };
    }, [FROZEN]));

  test('of a model leaves frozen layers alone', async () => {
    const outcomes = [];
    for (const isRecorded of [false, true]) {
      const dense = (more) => tf.layers.dense({ units: 2, kernelInitializer: 'ones', ...more });
      const model = tf.sequential({ layers: [dense({ inputShape: [2] }), dense({})] });
      const optimizer = tf.train.adam(0.05);
      model.compile({ optimizer, loss: 'meanSquaredError' });
      if (isRecorded) ebb.record(model, { name: 'freezing' });
      const [x, y] = [tf.ones([3, 2]), tf.zeros([3, 2])];
      for (let i = 0; i < 12; i++) {
        model.layers[0].trainable = i % 8 < 4;
        await model.trainOnBatch(x, y);
      }
      outcomes.push(model.getWeights().map(values));
      tf.dispose([x, y]);
      model.dispose();
      optimizer.dispose();
    }
    assert.deepEqual(outcomes[1], outcomes[0]);
    const { recorded } = ebb.report({ json: true });
    const { reasons } = recorded.find(({ name }) => name === 'freezing.train');
    assert.deepEqual(reasons, { [BEGAN]: 1, [FROZEN]: 2 });
  });
});

const OPTIMIZERS = {
  sgd: () => tf.train.sgd(0.1),
  momentum: () => tf.train.momentum(0.1, 0.9),
  adagrad: () => tf.train.adagrad(0.1),
  adadelta: () => tf.train.adadelta(0.1),
  adam: () => tf.train.adam(0.01),
  adamax: () => tf.train.adamax(0.01),
  rmsprop: () => tf.train.rmsprop(0.01, 0.9, 0.5),
  'centered rmsprop': () => tf.train.rmsprop(0.01, 0.9, 0.5, undefined, true),
};

/** A world with one optimizer that steps down to zero. */
const steps = (make, run) => {
  const w = variable(1.5);
  const optimizer = make();
  const held = [w, optimizer];
  if ('m' in optimizer) held.push({ dispose: () => optimizer.c.dispose() }); // TensorFlow.js leaves it
  return {
    held,
    step: () => optimizer.minimize(() => w.square().sum(), true, [w]),
    run: (step) => run(step, optimizer, w),
  };
};
const many = (step, times = 4) => {
  for (let i = 0; i < times; i++) step();
};

describe('a recorded step goes on with an optimizer', () => {
  leavesNothing();
  for (const [name, make] of Object.entries(OPTIMIZERS)) {
    const begins = name === 'sgd' ? [] : [BEGAN];
    const setsWeights = name !== 'sgd' && name !== 'adamax';

    if (setsWeights) {
      test(`${name} that was given other weights`, () =>
        compares(() => {
          const old = [];
          const world = steps(make, async (step, optimizer, w) => {
            many(step);
            const weights = await optimizer.getWeights();
            const saved = weights.map((each) => ({ ...each, tensor: each.tensor.clone() }));
            old.push(...weights.map(({ tensor }) => tensor), ...saved.map((each) => each.tensor));
            many(step, 3);
            await optimizer.setWeights(saved);
            const before = values(w);
            many(step, 5);
            return [before, values(w), optimizer.iterations];
          });
          world.held.push({ dispose: () => tf.dispose(old) });
          return world;
        }, [...begins, 'variables of an optimizer are others']));

      test(`${name} that was given other weights and disposed of: it throws, as the function does`, async () => {
        for (const isRecorded of [false, true]) {
          const { step, held } = steps(make, () => {});
          const [w, optimizer, ...rest] = held;
          const fast = isRecorded ? ebb.record(step) : () => tf.tidy(step);
          const call = () => tf.dispose(fast());
          many(call);
          const weights = await optimizer.getWeights();
          await optimizer.setWeights(weights);
          call();
          optimizer.dispose();
          for (let i = 0; i < 2; i++) assert.throws(call, /disposed/);
          tf.dispose(weights.map(({ tensor }) => tensor));
          rest.forEach((each) => each.dispose());
          w.dispose();
          if (isRecorded) fast.dispose();
        }
      });
    }

    const hasScalars = name === 'sgd' || name === 'momentum';
    const setRate = (optimizer, rate) =>
      hasScalars ? optimizer.setLearningRate(rate) : (optimizer.learningRate = rate);
    test(`${name} whose rate is set, to another or to what it is`, () =>
      compares(
        () =>
          steps(make, (step, optimizer, w) => {
            const all = [];
            for (const rate of [0.1, 0.1, 0.02, 0.02, 0.02, 0.1]) {
              setRate(optimizer, rate);
              many(step, 2);
              all.push(values(w));
            }
            return all;
          }),
        [...begins, 'learningRate of an optimizer changed'],
      ));

    if (hasScalars) {
      test(`${name} whose rate is set to what it is: it is not recorded again`, () =>
        compares(
          () =>
            steps(make, (step, optimizer, w) => {
              for (let i = 0; i < 8; i++) {
                optimizer.setLearningRate(0.1);
                step();
              }
              return values(w);
            }),
          begins,
        ));
    }
  }
});

test('several steps in one call are counted, each by its optimizer', () =>
  compares(() => {
    const [v, w] = [variable(1), variable(2)];
    const [often, once] = [tf.train.sgd(0.1), tf.train.adam(0.1)];
    const loss = () => v.square().sum().add(w.square().sum());
    return {
      held: [v, w, often, once],
      step: () => {
        for (let i = 0; i < 3; i++) often.minimize(loss, false, [v]);
        return once.minimize(loss, true, [w]);
      },
      run: (step) => {
        many(step, 7);
        return [often.iterations, once.iterations, values(v), values(w)];
      },
    };
  }, [BEGAN]));
