// What backend webgl keeps for reuse, with a texture manager that only counts, as TensorFlow.js's does.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const { freeListOf, trimFreeLists } = createRequire(import.meta.url)(
  '../dist/engine/free_lists.js',
);

/** Textures of so many bytes, by key. */
class Manager {
  freeTextures = {};
  numFreeTextures = 0;
  _numBytesAllocated = 0;
  _numBytesFree = 0;
  deleted = [];
  gpgpu = { deleteMatrixTexture: (texture) => this.deleted.push(texture) };

  acquireTexture(name, bytes) {
    this._numBytesAllocated += bytes;
    return { texture: name, bytes };
  }

  releaseTexture(texture, key) {
    (this.freeTextures[key] ??= []).push(texture);
    this.numFreeTextures++;
    this._numBytesFree += texture.bytes;
  }

  counts() {
    return [this._numBytesAllocated, this._numBytesFree, this.numFreeTextures];
  }
}

function filled(manager, names) {
  for (const name of names) manager.releaseTexture(manager.acquireTexture(name, 100), 'a');
  manager.releaseTexture(manager.acquireTexture('large', 1000), 'b');
}

test('no more textures go than must', () => {
  const manager = new Manager();
  const list = freeListOf({ textureManager: manager });
  filled(manager, ['one', 'two', 'three']);
  assert.equal(list.trim(150), 200);
  assert.deepEqual(manager.deleted, ['three', 'two']);
  assert.deepEqual(manager.counts(), [1100, 1100, 2]);
  assert.equal(list.trim(0), 0);
  assert.equal(list.trim(Infinity), 1100);
  assert.deepEqual(manager.counts(), [0, 0, 0]);
  assert.equal(list.trim(1), 0);
});

test('where one was idle before anybody looked, all go', () => {
  const manager = new Manager();
  filled(manager, ['before']);
  const list = freeListOf({ textureManager: manager });
  filled(manager, ['after']);
  assert.equal(list.trim(50), 100, 'what came after is known');
  assert.equal(list.trim(50), 2100);
  assert.deepEqual(manager.counts(), [0, 0, 0]);
});

test('a manager is looked at once, however often it is asked for', () => {
  const manager = new Manager();
  const backend = { textureManager: manager };
  const list = freeListOf(backend);
  const { releaseTexture } = manager;
  assert.equal(freeListOf(backend), list);
  filled(manager, ['one']);
  assert.equal(trimFreeLists({ registry: { webgl: backend } }, 50), 100);
  assert.equal(manager.releaseTexture, releaseTexture);
});

test('a manager that is disposed of has nothing', () => {
  const manager = new Manager();
  const list = freeListOf({ textureManager: manager });
  manager.freeTextures = null;
  assert.equal(list.trim(Infinity), 0);
});

test('a texture is known by what the manager counts when it is taken', () => {
  const manager = new Manager();
  const texData = new Map([['untouched', {}]]);
  const list = freeListOf({ textureManager: manager, texData });
  const { acquireTexture } = manager;
  texData.set('new', { texture: acquireTexture('one', 300) });
  texData.set('slice', { texture: texData.get('new').texture, slice: {} });
  assert.equal(list.bytesBehind('new'), 300);
  for (const none of ['untouched', 'slice', 'unknown'])
    assert.equal(list.bytesBehind(none), undefined, none);
});
