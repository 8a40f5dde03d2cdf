// Textures that take more of a GPU than the numbers in them: a backend that computes on the CPU and counts as webgl does
// over WebGL 1, sixteen bytes a number.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { assertBooks, collected, ebb, require, tf } from './support.mjs';

const { MathBackendCPU } = require('@tensorflow/tfjs-backend-cpu');
const MB = 2 ** 20;
const NAME = 'textures';
/** A megabyte of numbers, and what their texture takes. */
const SHAPE = [512, 512];
const BYTES = 512 * 512 * 4;
const TEXTURE = 4 * BYTES;

/** Counts like TensorFlow.js's, one free list for each size. */
class Manager {
  freeTextures = {};
  numFreeTextures = 0;
  _numBytesAllocated = 0;
  _numBytesFree = 0;
  most = 0;
  gpgpu = { deleteMatrixTexture: () => {} };

  acquireTexture(bytes) {
    const idle = this.freeTextures[bytes]?.pop();
    if (idle !== undefined) {
      this.numFreeTextures--;
      this._numBytesFree -= bytes;
      return idle;
    }
    this._numBytesAllocated += bytes;
    this.most = Math.max(this.most, this._numBytesAllocated);
    return { texture: {} };
  }

  releaseTexture(texture, bytes) {
    (this.freeTextures[bytes] ??= []).push(texture);
    this.numFreeTextures++;
    this._numBytesFree += bytes;
  }
}

class Backend extends MathBackendCPU {
  textureManager = new Manager();
  texData = new Map();

  write(values, shape, dtype) {
    const dataId = super.write(values, shape, dtype);
    this.texData.set(dataId, { texture: null, bytes: 16 * tf.util.sizeFromShape(shape) });
    return dataId;
  }

  /** Of kernels: what they make is on the GPU. */
  makeTensorInfo(shape, dtype, values) {
    const info = super.makeTensorInfo(shape, dtype, values);
    this.uploadToGPU(info.dataId);
    return info;
  }

  uploadToGPU(dataId) {
    const data = this.texData.get(dataId);
    data.texture ??= this.textureManager.acquireTexture(data.bytes);
  }

  disposeData(dataId, force) {
    const { texture, bytes } = this.texData.get(dataId);
    const gone = super.disposeData(dataId, force);
    if (gone && texture != null) this.textureManager.releaseTexture(texture, bytes);
    if (gone) this.texData.delete(dataId);
    return gone;
  }
}

before(async () => {
  tf.registerBackend(NAME, () => new Backend());
  tf.copyRegisteredKernels('cpu', NAME);
  await tf.setBackend(NAME);
  ebb.reclaim.on();
  tf.fill([1], 1).dispose(); // the backend is known
});
beforeEach(() => collected());
after(() => ebb.budget('8GB'));

/** What the books have of what `make` makes. */
function booked(make) {
  const start = ebb.memory().liveBytes;
  const tensor = make();
  const made = ebb.memory().liveBytes - start;
  return { tensor, made, start };
}

test('what a kernel makes is booked with what its texture takes', () => {
  const { tensor, made, start } = booked(() => tf.fill(SHAPE, 1));
  assert.equal(made, TEXTURE);
  const again = tf.clone(tensor);
  assert.equal(ebb.memory().liveBytes - start, TEXTURE, 'once, for all tensors over it');
  tf.dispose([tensor, again]);
  assert.equal(ebb.memory().liveBytes, start);
  assertBooks();
});

test('what is made of values is booked with its texture once it is uploaded', () => {
  const { tensor, made, start } = booked(() => tf.tensor(new Float32Array(512 * 512), SHAPE));
  assert.equal(made, BYTES);
  for (let i = 0; i < 2; i++) {
    tf.backend().uploadToGPU(tensor.dataId);
    assert.equal(ebb.memory().liveBytes - start, TEXTURE);
  }
  tensor.dispose();
  assert.equal(ebb.memory().liveBytes, start);
  assertBooks();
});

test('data that leaves for another backend has no texture', async () => {
  const { tensor, start } = booked(() => tf.fill(SHAPE, 3));
  await tf.setBackend('cpu');
  const sum = tf.tidy(() => tf.sum(tensor).dataSync()[0]);
  assert.equal(sum, 3 * 512 * 512);
  assert.equal(ebb.memory().liveBytes - start, BYTES);
  tensor.dispose();
  await tf.setBackend(NAME);
  assertBooks();
});

test('textures stay within the budget, though the numbers in them are few', () => {
  const manager = tf.backend().textureManager;
  ebb.trim();
  manager.most = 0;
  const budget = ebb.memory().liveBytes + 24 * MB;
  ebb.budget(budget);
  for (let i = 0; i < 100; i++) tf.fill(SHAPE, i); // 100 MB, and 400 MB of textures
  assert.ok(manager.most <= budget, `${manager.most / MB} MB of textures at most`);
  assertBooks();
});
