// Writes ONNX models: a graph of nodes and weights as the bytes that onnxruntime loads.

function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const more = rest > 127n;
    bytes.push(Number(rest & 127n) | (more ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const integer = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => {
  const body = Buffer.from(value);
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
};
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));
function float(field, value) {
  const body = Buffer.alloc(4);
  body.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | 5), body]);
}

/** Fields and types as onnx.proto has them. */
function attribute([name, value]) {
  const type = (code) => integer(20, code);
  if (Array.isArray(value)) {
    return message(5, bytes(1, name), ...value.map((each) => integer(8, each)), type(7));
  }
  if (typeof value === 'string') return message(5, bytes(1, name), bytes(4, value), type(3));
  if (Number.isInteger(value)) return message(5, bytes(1, name), integer(3, value), type(2));
  return message(5, bytes(1, name), float(2, value), type(1));
}

const FLOAT = 1;
const INT64 = 7;

class OnnxGraph {
  parts = [];
  count = 0;

  /** A node; its result's name. Whole numbers are integers, so 1e-5 and the like are floats. */
  node(op, inputs, attributes = {}, result = `v${this.count++}`) {
    this.parts.push(
      message(
        1,
        ...inputs.map((each) => bytes(1, each)),
        bytes(2, result),
        bytes(4, op),
        ...Object.entries(attributes).map(attribute),
      ),
    );
    return result;
  }

  weight(values, shape) {
    const name = `w${this.count++}`;
    const isFloat = values instanceof Float32Array;
    const raw = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    const dims = shape.map((each) => integer(1, each));
    const type = integer(2, isFloat ? FLOAT : INT64);
    this.parts.push(message(5, ...dims, type, bytes(8, name), bytes(9, raw)));
    return name;
  }

  numbers(...values) {
    return this.weight(BigInt64Array.from(values, BigInt), [values.length]);
  }

  number(value) {
    return this.weight(Float32Array.of(value), []);
  }

  /** The whole model, from input "x" to output "y". */
  bytes(inputShape, outputShape) {
    const tensor = (field, name, shape) => {
      const dims = shape.map((each) => message(1, integer(1, each)));
      return message(
        field,
        bytes(1, name),
        message(2, message(1, integer(1, FLOAT), message(2, ...dims))),
      );
    };
    const graph = [...this.parts, bytes(2, 'network')];
    graph.push(tensor(11, 'x', inputShape), tensor(12, 'y', outputShape));
    const opset = message(8, bytes(1, ''), integer(2, 17));
    return Buffer.concat([integer(1, 8), opset, message(7, ...graph)]);
  }
}

module.exports = { OnnxGraph };
