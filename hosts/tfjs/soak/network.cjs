// A small network whose weights follow from a formula, so that the server and the client that checks its answers
// know the same one without telling each other.
const SIZES = [16, 32, 8, 4];

const layers = SIZES.slice(1).map((outputs, i) => {
  const inputs = SIZES[i];
  const weights = Float32Array.from(
    { length: inputs * outputs },
    (_, k) => Math.sin(7 * k + i) / Math.sqrt(inputs),
  );
  const bias = Float32Array.from({ length: outputs }, (_, k) => Math.cos(3 * k + i) / 10);
  return { inputs, outputs, weights, bias, last: i === SIZES.length - 2 };
});

/** What the network answers to one row, in plain JavaScript. */
function answer(row) {
  let x = row;
  for (const { inputs, outputs, weights, bias, last } of layers) {
    x = Array.from({ length: outputs }, (_, k) => {
      let sum = bias[k];
      for (let i = 0; i < inputs; i++) sum += x[i] * weights[i * outputs + k];
      return last ? sum : Math.max(0, sum);
    });
  }
  const most = Math.max(...x);
  const shares = x.map((value) => Math.exp(value - most));
  const total = shares.reduce((a, b) => a + b);
  return shares.map((share) => share / total);
}

/** What the server holds beside the network: a table in parts, each a tensor of a megabyte. */
const TABLE = { parts: 32, rows: 4096, columns: 64 };
const entry = (part, row, column) => ((31 * part + 7 * row + column) % 1000) / 1000;

module.exports = { layers, answer, INPUTS: SIZES[0], TABLE, entry };
