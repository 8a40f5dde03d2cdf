// Networks for which onnxruntime-node is a peer: each as a function of TensorFlow.js, and as an ONNX graph with the
// same weights.
const { createRequire } = require('node:module');
const { OnnxGraph } = require('./support/onnx.cjs');
const { mobileNet, resNet18 } = require('./programs.cjs');
const { dense40: layers40, normalised } = require('./support/models.cjs');

/** { shape, run(x), graph(), onnx }: `onnx` is the shape there, where pictures have their channels first. */
const NETWORKS = {
  dense40,
  mobileNet1: (tf) => pictures(tf, mobileNet(tf), 1),
  mobileNet8: (tf) => pictures(tf, mobileNet(tf), 8),
  resNet1: (tf) => pictures(tf, resNet18(tf), 1),
  resNet8: (tf) => pictures(tf, resNet18(tf), 8),
  encoder,
};

const shapeOf = (tensor) => tensor.shape;

function dense40(tf) {
  const model = layers40(tf, 'heNormal');
  const graph = (onnx) => {
    let at = 'x';
    model.layers.forEach((layer, i) => {
      const [kernel, bias] = layer.getWeights();
      const inputs = [kernel, bias].map((each) => onnx.weight(each.dataSync(), shapeOf(each)));
      at = onnx.node('Relu', [onnx.node('Gemm', [at, ...inputs])], {}, i === 39 ? 'y' : undefined);
    });
  };
  return { model, shape: [1, 128], output: [1, 128], graph };
}

function pictures(tf, model, batch) {
  const weight = (onnx, tensor, order) =>
    tf.tidy(() => {
      const turned = order === undefined ? tensor : tf.transpose(tensor, order);
      return onnx.weight(turned.dataSync(), turned.shape);
    });
  const windows = (layer) => ({ auto_pad: 'SAME_UPPER', strides: [...layer.strides] });
  const layers = {
    InputLayer: () => 'x',
    Conv2D: (onnx, [at], layer) =>
      onnx.node('Conv', [at, weight(onnx, layer.getWeights()[0], [3, 2, 0, 1])], windows(layer)),
    DepthwiseConv2D: (onnx, [at], layer) => {
      const [filter] = layer.getWeights();
      return onnx.node('Conv', [at, weight(onnx, filter, [2, 3, 0, 1])], {
        ...windows(layer),
        group: filter.shape[2],
      });
    },
    MaxPooling2D: (onnx, [at], layer) =>
      onnx.node('MaxPool', [at], { ...windows(layer), kernel_shape: [...layer.poolSize] }),
    BatchNormalization: (onnx, [at], layer) => {
      const weights = layer.getWeights().map((each) => weight(onnx, each));
      return onnx.node('BatchNormalization', [at, ...weights], { epsilon: layer.epsilon });
    },
    ReLU: (onnx, [at], { maxValue }) =>
      maxValue == null
        ? onnx.node('Relu', [at])
        : onnx.node('Clip', [at, onnx.number(0), onnx.number(maxValue)]),
    Add: (onnx, inputs) => onnx.node('Add', inputs),
    GlobalAveragePooling2D: (onnx, [at]) =>
      onnx.node('Flatten', [onnx.node('GlobalAveragePool', [at])]),
    Dense: (onnx, [at], layer) => {
      const inputs = layer.getWeights().map((each) => weight(onnx, each));
      return onnx.node('Softmax', [onnx.node('Gemm', [at, ...inputs])], { axis: 1 }, 'y');
    },
  };
  const graph = (onnx) => {
    const results = new Map();
    for (const layer of model.layers) {
      const inputs = layer.inboundNodes[0].inboundLayers.map((from) => results.get(from) ?? 'x');
      results.set(layer, layers[layer.getClassName()](onnx, inputs, layer));
    }
  };
  const shape = [batch, 224, 224, 3];
  return { model, shape, output: [batch, 1000], graph, channelsFirst: true };
}

/** Four layers of a transformer's encoder: 128 positions of 256, 8 heads, batch 1. */
function encoder(tf) {
  const [length, width, heads] = [128, 256, 8];
  const weight = (...shape) => tf.variable(tf.randomNormal(shape, 0, 0.05));
  const layers = Array.from({ length: 4 }, () => ({
    query: weight(width, width),
    key: weight(width, width),
    value: weight(width, width),
    out: weight(width, width),
    up: weight(width, 4 * width),
    down: weight(4 * width, width),
  }));
  const norm = (x) => normalised(tf, x);
  const split = (x) => x.reshape([length, heads, width / heads]).transpose([1, 0, 2]);
  const layer = (x, { query, key, value, out, up, down }) => {
    const inner = norm(x);
    const [q, k, v] = [query, key, value].map((each) => split(inner.matMul(each)));
    const scores = tf.softmax(tf.matMul(q, k, false, true).mul(1 / Math.sqrt(width / heads)));
    const mixed = tf.matMul(scores, v).transpose([1, 0, 2]).reshape([length, width]);
    const y = x.add(mixed.matMul(out));
    return y.add(norm(y).matMul(up).relu().matMul(down));
  };
  const run = (x) => tf.tidy(() => layers.reduce(layer, x));
  const graph = (onnx) => {
    const ones = onnx.weight(new Float32Array(width).fill(1), [width]);
    const heading = onnx.numbers(length, heads, width / heads);
    const whole = onnx.numbers(length, width);
    const scale = onnx.number(1 / Math.sqrt(width / heads));
    const node = (op, inputs, attributes, name) => onnx.node(op, inputs, attributes, name);
    const times = (at, tensor) =>
      node('MatMul', [at, onnx.weight(tensor.dataSync(), tensor.shape)]);
    const normed = (at) => node('LayerNormalization', [at, ones], { axis: -1, epsilon: 1e-5 });
    const turned = (at, perm) => node('Transpose', [node('Reshape', [at, heading])], { perm });
    layers.reduce((at, { query, key, value, out, up, down }, i) => {
      const inner = normed(at);
      const q = turned(times(inner, query), [1, 0, 2]);
      const k = turned(times(inner, key), [1, 2, 0]);
      const v = turned(times(inner, value), [1, 0, 2]);
      const scores = node('Softmax', [node('Mul', [node('MatMul', [q, k]), scale])], { axis: -1 });
      const mixed = node('Transpose', [node('MatMul', [scores, v])], { perm: [1, 0, 2] });
      const y = node('Add', [at, times(node('Reshape', [mixed, whole]), out)]);
      const fed = times(node('Relu', [times(normed(y), up)]), down);
      return node('Add', [y, fed], {}, i === 3 ? 'y' : undefined);
    }, 'x');
  };
  return { run, shape: [length, width], output: [length, width], graph };
}

const largest = (a, b) => a.reduce((most, each, i) => Math.max(most, Math.abs(each - b[i])), 0);

/** Replays before results are compared: weights are kept by then, and threads help. */
const REPLAYS = 12;

/** The network as a function, recorded: a model is recorded in place. */
function recorded({ model, run }) {
  const { record } = require('..');
  if (model === undefined) return record(run);
  record(model);
  return (x) => model.predict(x);
}

/** What the last of so many calls gives. */
function givenBy(run, x, calls) {
  let values;
  for (let i = 0; i < calls; i++) {
    const y = run(x);
    values = y.dataSync();
    y.dispose();
  }
  return values;
}

/** A step in onnxruntime, which has given what TensorFlow.js gives on this backend, not recorded and replayed. */
async function onOnnxRuntime(tf, network) {
  const { model, run = (x) => model.predict(x), shape, output, graph, channelsFirst } = network;
  const runtime = createRequire(`${process.env.EBB_ONNXRUNTIME}/index.js`)('onnxruntime-node');
  const onnx = new OnnxGraph();
  graph(onnx);
  const x = tf.randomUniform(shape, -1, 1);
  const given = channelsFirst ? tf.transpose(x, [0, 3, 1, 2]) : x;
  const session = await runtime.InferenceSession.create(onnx.bytes(given.shape, output), {
    intraOpNumThreads: 2,
  });
  const feeds = { x: new runtime.Tensor('float32', given.dataSync(), given.shape) };
  const { y } = await session.run(feeds);
  const compare = (what, values) => {
    const apart = largest(values, y.data);
    if (!(apart <= 1e-4)) throw new Error(`onnxruntime's results are ${apart} from those ${what}`);
  };
  compare('of TensorFlow.js', givenBy(run, x, 1));
  compare('of a replay', givenBy(recorded(network), x, REPLAYS));
  const isReplayed = require('..')
    .report({ json: true })
    .recorded.some(({ replayed }) => replayed === REPLAYS - 1);
  if (!isReplayed) throw new Error('the recorded network was not replayed');
  return () => session.run(feeds);
}

/** Works by name, for backend_work.cjs: `network_dense40` and so on. */
function worksOn(backend) {
  const step = (tf, name) => {
    const network = NETWORKS[name](tf);
    if (backend === 'onnxruntime') return onOnnxRuntime(tf, network);
    const { model, run = (x) => model.predict(x) } = network;
    const x = tf.randomUniform(network.shape, -1, 1);
    const once = backend === 'recorded' ? recorded(network) : run;
    return () => once(x).dispose();
  };
  return Object.fromEntries(
    Object.keys(NETWORKS).map((name) => [`network_${name}`, (tf) => step(tf, name)]),
  );
}

module.exports = { worksOn };
