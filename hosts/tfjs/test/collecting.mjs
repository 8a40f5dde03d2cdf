// Collecting until nothing more comes back.

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A function that lets pending jobs finish and collects, until as many tensors are left as before: a compilation in
 * another thread of V8 may hold on to one for a moment. It returns their number.
 */
export const collecting = (tf, ebb) => async () => {
  let left = Infinity;
  for (let same = 0; same < 4;) {
    await sleep(left === Infinity ? 1 : 15);
    ebb.collect();
    const { numTensors } = tf.memory();
    same = numTensors === left ? same + 1 : 0;
    left = numTensors;
  }
  return left;
};
