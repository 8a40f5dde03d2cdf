// A function for each kernel that TensorFlow.js has a gradient of: [f, tensors that gradients are taken by, ...]. Some
// values are where functions bend: 0, and equal ones.
import { tf } from './backend_support.mjs';

const vector = [-2.5, -1, -0.3, 0, 0.4, 1, 1.7, 6, 6.5];
const positive = [0.1, 0.5, 0.9, 1, 1.5, 2.25, 4];
const inside = [-0.9, -0.5, 0, 0.2, 0.75];
const matrix = [
  [1, 2, 2],
  [0, -3, 1],
];
const range = (shape, scale = 0.37) => {
  const size = shape.reduce((product, each) => product * each, 1);
  const values = Float32Array.from({ length: size }, (_, i) => Math.sin(i * 1.7) + scale * (i % 5));
  return tf.tensor(values, shape);
};
const of = (f, ...values) => [f, () => values.map((each) => tf.tensor(each))];
const over = (f, ...shapes) => [f, () => shapes.map((shape) => range(shape))];
const square = (f) => (x) => tf.square(f(x));
const pair = (op) => of((a, b) => op(a, b), matrix, [2, -3, 1]);

export const CASES = {
  Abs: of(tf.abs, vector),
  Acos: of(tf.acos, inside),
  Acosh: of(tf.acosh, [1.1, 1.5, 3]),
  Add: pair(tf.add),
  AddN: of((a, b) => tf.addN([a, b, a]), vector, vector),
  ArgMax: of((x) => tf.argMax(x).toFloat().mul(x), [[1, 3, 2]]),
  ArgMin: of((x) => tf.argMin(x).toFloat().mul(x), [[1, 3, 2]]),
  Asin: of(tf.asin, inside),
  Asinh: of(tf.asinh, vector),
  Atan: of(tf.atan, vector),
  Atan2: of(tf.atan2, vector, [1, 2, -3, 0.5, 1, -1, 2, 3, 4]),
  Atanh: of(tf.atanh, inside),
  AvgPool: over(
    square((x) => tf.avgPool(x, 2, 2, 'valid')),
    [1, 5, 5, 2],
  ),
  'AvgPool, padded': over(
    square((x) => tf.avgPool(x, 2, 2, 'same')),
    [1, 5, 5, 2],
  ),
  'AvgPool, explicit': over(
    square((x) =>
      tf.avgPool(
        x,
        3,
        1,
        [
          [0, 0],
          [1, 1],
          [1, 1],
          [0, 0],
        ],
        'floor',
      ),
    ),
    [1, 4, 4, 1],
  ),
  AvgPool3D: over(
    square((x) => tf.avgPool3d(x, 2, 1, 'valid')),
    [1, 3, 3, 3, 2],
  ),
  BatchMatMul: over((a, b) => tf.matMul(a, b, true, true), [2, 3, 4], [2, 5, 3]),
  BatchToSpaceND: over(
    square((x) =>
      tf.batchToSpaceND(
        x,
        [2, 2],
        [
          [0, 1],
          [0, 0],
        ],
      ),
    ),
    [4, 2, 2, 1],
  ),
  BroadcastTo: of((x) => tf.broadcastTo(x, [2, 3]).mul(matrix), [1, 2, 3]),
  Cast: of((x) => x.cast('int32').cast('float32').mul(x), vector),
  Ceil: of((x) => tf.ceil(x).mul(x), vector),
  ClipByValue: of((x) => tf.clipByValue(x, -1, 1), vector),
  ComplexAbs: of((x) => tf.abs(tf.complex(x, x)), positive),
  Concat: of(
    square((x) => tf.concat([x, x.mul(2), x], 1)),
    matrix,
  ),
  Conv2D: over((x, w) => tf.conv2d(x, w, 2, 'same'), [2, 5, 5, 3], [3, 3, 3, 4]),
  'Conv2D, dilated': over(
    (x, w) => tf.conv2d(x, w, 1, 'same', 'NHWC', 2),
    [1, 5, 5, 1],
    [2, 2, 1, 1],
  ),
  Conv2DBackpropInput: over(
    (x, w) => tf.conv2dTranspose(x, w, [1, 6, 6, 2], 2, 'same'),
    [1, 3, 3, 3],
    [3, 3, 2, 3],
  ),
  Conv3D: over((x, w) => tf.conv3d(x, w, 1, 'valid'), [1, 3, 3, 3, 2], [2, 2, 2, 2, 3]),
  Cos: of(tf.cos, vector),
  Cosh: of(tf.cosh, vector),
  Cumsum: of(
    square((x) => tf.cumsum(x, 1, true, true)),
    matrix,
  ),
  DepthwiseConv2dNative: over(
    (x, w) => tf.depthwiseConv2d(x, w, 1, 'same'),
    [2, 5, 5, 3],
    [3, 3, 3, 2],
  ),
  Dilation2D: over((x, w) => tf.dilation2d(x, w, 1, 'same'), [1, 4, 4, 2], [2, 2, 2]),
  Elu: of(tf.elu, vector),
  Erf: of(tf.erf, vector),
  Exp: of(tf.exp, vector),
  ExpandDims: of(
    square((x) => tf.expandDims(x, 1)),
    matrix,
  ),
  Expm1: of(tf.expm1, vector),
  Floor: of((x) => tf.floor(x).mul(x), vector),
  FloorDiv: of((a, b) => tf.floorDiv(a, b).mul(a), matrix, [2, -3, 1]),
  FusedBatchNorm: over(
    (x, m, v, b, s) => tf.square(tf.batchNorm(x, m, v.abs().add(1), b, s)),
    [4, 3],
    [3],
    [3],
    [3],
    [3],
  ),
  GatherV2: of((x) => tf.square(tf.gather(x, tf.tensor1d([2, 0, 2, 1], 'int32'), 1)), matrix),
  GreaterEqual: of((a, b) => tf.greaterEqual(a, b).toFloat().mul(a).add(b), vector, vector),
  Identity: of((x) => x.clone().mul(x.clone()), vector),
  IsFinite: of((x) => tf.isFinite(x).toFloat().mul(x), vector),
  IsInf: of((x) => tf.isInf(x).toFloat().mul(x), vector),
  IsNan: of((x) => tf.isNaN(x).toFloat().mul(x), vector),
  LRN: over((x) => tf.localResponseNormalization(x, 2), [1, 2, 2, 5]),
  LeakyRelu: of((x) => tf.leakyRelu(x, 0.3), vector),
  Log: of(tf.log, positive),
  Log1p: of(tf.log1p, positive),
  LogSoftmax: of(
    square((x) => tf.engine().runKernel('LogSoftmax', { logits: x }, { axis: -1 })),
    matrix,
  ),
  Max: of((x) => tf.max(x, 1), matrix),
  MaxPool: over(
    square((x) => tf.maxPool(x, 2, 2, 'same')),
    [1, 5, 5, 2],
  ),
  MaxPool3D: over(
    square((x) => tf.maxPool3d(x, 2, 1, 'valid')),
    [1, 3, 3, 3, 2],
  ),
  Maximum: of(tf.maximum, vector, [...vector].reverse()),
  Mean: of(
    square((x) => tf.mean(x, 1)),
    matrix,
  ),
  Min: of((x) => tf.min(x, 1), matrix),
  Minimum: of(tf.minimum, vector, [...vector].reverse()),
  MirrorPad: of(
    (x) =>
      tf.square(
        tf.mirrorPad(
          x,
          [
            [1, 1],
            [0, 1],
          ],
          'reflect',
        ),
      ),
    matrix,
  ),
  Mod: pair(tf.mod),
  Multiply: pair(tf.mul),
  Neg: of(square(tf.neg), vector),
  OneHot: of((x) => tf.oneHot(x.toInt(), 3).toFloat().mul(x.expandDims(1)), [0, 1, 2]),
  OnesLike: of((x) => tf.onesLike(x).mul(x), vector),
  Pack: of((a, b) => tf.square(tf.stack([a, b, a], 1)), matrix, matrix),
  PadV2: of(
    square((x) =>
      tf.pad(
        x,
        [
          [1, 0],
          [0, 2],
        ],
        3,
      ),
    ),
    matrix,
  ),
  Pow: of(tf.pow, positive, [2, 3, 0.5, -1, 0, 1, 2]),
  Prelu: of(tf.prelu, matrix, [0.1, 0.2, 0.3]),
  Prod: of(
    (x) => tf.prod(x, 1),
    [
      [1, 2, 3],
      [2, -3, 1],
    ],
  ),
  RealDiv: pair(tf.div),
  Reciprocal: of(tf.reciprocal, positive),
  Relu: of(tf.relu, vector),
  Relu6: of(tf.relu6, vector),
  Reshape: of(
    square((x) => tf.reshape(x, [3, 2])),
    matrix,
  ),
  ResizeBilinear: over(
    square((x) => tf.image.resizeBilinear(x, [5, 4])),
    [1, 3, 3, 2],
  ),
  'ResizeBilinear, half pixels': over(
    square((x) => tf.image.resizeBilinear(x, [5, 4], false, true)),
    [1, 3, 3, 2],
  ),
  ResizeNearestNeighbor: over(
    square((x) => tf.image.resizeNearestNeighbor(x, [5, 4])),
    [1, 3, 3, 2],
  ),
  Reverse: of((x) => tf.reverse(x, 1).mul(matrix), matrix),
  Round: of((x) => tf.round(x).mul(x), vector),
  Rsqrt: of(tf.rsqrt, positive),
  Select: of(
    (a, b) => tf.square(tf.where(tf.tensor([true, false, true], [3], 'bool'), a, b)),
    [1, 2, 3],
    [4, 5, 6],
  ),
  Selu: of(tf.selu, vector),
  Sigmoid: of(tf.sigmoid, vector),
  Sign: of((x) => tf.sign(x).mul(x), vector),
  Sin: of(tf.sin, vector),
  Sinh: of(tf.sinh, vector),
  Slice: of(
    square((x) => tf.slice(x, [0, 1], [2, 2])),
    matrix,
  ),
  Softmax: of(square(tf.softmax), matrix),
  Softplus: of(tf.softplus, vector),
  SpaceToBatchND: over(
    square((x) =>
      tf.spaceToBatchND(
        x,
        [2, 2],
        [
          [0, 0],
          [2, 0],
        ],
      ),
    ),
    [1, 2, 2, 1],
  ),
  SplitV: of((x) => {
    const [a, , c] = tf.split(x, 3, 1);
    return tf.square(a.add(c.mul(2)));
  }, matrix),
  Sqrt: of(tf.sqrt, positive),
  Square: of(tf.square, vector),
  SquaredDifference: of(tf.squaredDifference, vector, [...vector].reverse()),
  Step: of((x) => tf.step(x, 0.5).mul(x), vector),
  Sub: pair(tf.sub),
  Sum: of(
    square((x) => tf.sum(x, 0)),
    matrix,
  ),
  Tan: of(tf.tan, inside),
  Tanh: of(tf.tanh, vector),
  Tile: of(
    square((x) => tf.tile(x, [2, 3])),
    matrix,
  ),
  Transpose: of((x) => tf.square(tf.transpose(x)).mul(tf.transpose(tf.tensor(matrix))), matrix),
  Unpack: of((x) => {
    const [a, , c] = tf.unstack(x, 1);
    return tf.square(a.mul(c));
  }, matrix),
  UnsortedSegmentSum: of(
    (x) => tf.square(tf.unsortedSegmentSum(x, tf.tensor1d([1, 0, 1], 'int32'), 2)),
    [1, 2, 3],
  ),
  ZerosLike: of((x) => tf.zerosLike(x).add(x), vector),

  // Operations of several kernels, as networks have them.
  'fused matMul': over(
    (a, b, bias) => tf.fused.matMul({ a, b, bias, activation: 'linear' }),
    [4, 3],
    [3, 5],
    [5],
  ),
  'fused matMul, relu': over(
    (a, b, bias) => tf.fused.matMul({ a, b, bias, activation: 'relu' }),
    [4, 3],
    [3, 5],
    [5],
  ),
  'fused conv2d': over(
    (x, filter, bias) => tf.fused.conv2d({ x, filter, strides: 1, pad: 'same', bias }),
    [2, 4, 4, 2],
    [3, 3, 2, 3],
    [3],
  ),
  'fused depthwiseConv2d': over(
    (x, filter, bias) => tf.fused.depthwiseConv2d({ x, filter, strides: 1, pad: 'same', bias }),
    [2, 4, 4, 2],
    [3, 3, 2, 1],
    [2],
  ),
  logSumExp: of((x) => tf.logSumExp(x, 1), matrix),
  moments: of((x) => tf.moments(x, 1).variance, matrix),
  norm: of((x) => tf.norm(x, 2, 1), matrix),
};
