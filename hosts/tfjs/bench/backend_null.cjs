// A backend whose kernels do nothing but say what shape a result has: what is left is TensorFlow.js itself.
const tf = require('@tensorflow/tfjs');

class NullBackend extends tf.KernelBackend {
  count = 0;
  write() {
    this.count++;
    return {};
  }
  readSync() {
    return new Float32Array(1);
  }
  read() {
    return Promise.resolve(this.readSync());
  }
  disposeData() {
    this.count--;
    return true;
  }
  refCount() {
    return 1;
  }
  incRef() {}
  numDataIds() {
    return this.count;
  }
  memory() {
    return { unreliable: false };
  }
  floatPrecision() {
    return 32;
  }
}

const result = (backend, shape, dtype = 'float32') => {
  backend.count++;
  return { dataId: {}, shape, dtype };
};
const like = (name) => [
  name,
  ({ inputs, backend }) => result(backend, (inputs.x ?? inputs.a).shape),
];

const KERNELS = Object.fromEntries([
  like('Add'),
  like('Relu'),
  ['Identity', ({ inputs: { x } }) => ({ dataId: x.dataId, shape: x.shape, dtype: x.dtype })],
  [
    'Reshape',
    ({ inputs: { x }, attrs }) => ({ dataId: x.dataId, shape: attrs.shape, dtype: x.dtype }),
  ],
  ['Cast', ({ inputs: { x }, attrs, backend }) => result(backend, x.shape, attrs.dtype)],
  ['Slice', ({ attrs, backend }) => result(backend, attrs.size)],
  [
    '_FusedMatMul',
    ({ inputs: { a, b }, backend }) => result(backend, [a.shape[0], a.shape[1], b.shape[2]]),
  ],
  [
    'BatchMatMul',
    ({ inputs: { a, b }, backend }) => result(backend, [a.shape[0], a.shape[1], b.shape[2]]),
  ],
  ['Fill', ({ attrs, backend }) => result(backend, attrs.shape)],
]);

module.exports = function registerNull() {
  for (const [kernelName, kernelFunc] of Object.entries(KERNELS)) {
    tf.registerKernel({ kernelName, backendName: 'null', kernelFunc });
  }
  tf.registerBackend('null', () => new NullBackend());
};
