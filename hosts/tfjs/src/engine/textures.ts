// Textures of backend webgl: what they take of the GPU, and those that lie idle. WebGL 1 has sixteen bytes for each number
// that is not packed, so what data has of the device is not what its elements take.
import type { FreeList } from './free_lists';
import type { Backend, DataId } from './tfjs';

interface Texture {
  readonly texture: object;
}

interface TextureManager {
  freeTextures: Record<string, Texture[]> | null;
  numFreeTextures: number;
  _numBytesAllocated: number;
  _numBytesFree: number;
  acquireTexture(...how: unknown[]): Texture;
  releaseTexture(texture: Texture, ...how: unknown[]): void;
  readonly gpgpu: { deleteMatrixTexture(texture: object): void };
}

/** Of one piece of data. A slice has the texture of what it was cut from. */
interface TextureData {
  texture?: Texture | null;
  slice?: object | null;
}

/** Asked for what it does not have, it would fetch it from another backend. */
interface TextureDataTable {
  has(dataId: DataId): boolean;
  get(dataId: DataId): TextureData;
}

export interface WebGlBackend extends Backend {
  readonly textureManager: TextureManager;
  readonly texData: TextureDataTable;
  uploadToGPU(dataId: DataId): void;
}

/**
 * A texture does not say how large it is, but the manager counts it when it is taken and released. Where one was idle
 * before anybody looked, all idle ones go. No more than must: what is deleted stays with the GPU's process until its work
 * is done, and textures that are made anew in the meantime come on top.
 */
export class FreeTextures implements FreeList {
  private readonly sizes = new WeakMap<Texture, number>();

  constructor(
    private readonly manager: TextureManager,
    private readonly data?: TextureDataTable,
  ) {
    const { acquireTexture, releaseTexture } = manager;
    manager.acquireTexture = (...how) => {
      const before = this.used;
      const texture = acquireTexture.apply(manager, how);
      this.sizes.set(texture, this.used - before);
      return texture;
    };
    manager.releaseTexture = (texture, ...how) => {
      const before = this.idle;
      releaseTexture.call(manager, texture, ...how);
      this.sizes.set(texture, this.idle - before);
    };
  }

  get allocated(): number {
    return this.manager._numBytesAllocated;
  }

  get idle(): number {
    return this.manager._numBytesFree;
  }

  private get used(): number {
    return this.allocated - this.idle;
  }

  bytesBehind(dataId: DataId): number | undefined {
    if (!this.data?.has(dataId)) return undefined;
    const { texture, slice } = this.data.get(dataId);
    return texture == null || slice != null ? undefined : this.sizes.get(texture);
  }

  trim(bytes: number): number {
    let given = 0;
    for (const textures of Object.values(this.manager.freeTextures ?? {})) {
      while (given < bytes && textures.length > 0) {
        const size = this.sizes.get(textures.at(-1) as Texture);
        if (size === undefined) return given + this.trimAll();
        this.delete(textures.pop() as Texture);
        this.given(size);
        given += size;
      }
    }
    return given;
  }

  private trimAll(): number {
    const idle = this.manager._numBytesFree;
    for (const textures of Object.values(this.manager.freeTextures ?? {})) {
      for (const texture of textures) this.delete(texture);
      textures.length = 0;
    }
    this.given(idle);
    return idle;
  }

  private delete({ texture }: Texture): void {
    this.manager.gpgpu.deleteMatrixTexture(texture);
    this.manager.numFreeTextures--;
  }

  private given(bytes: number): void {
    this.manager._numBytesAllocated -= bytes;
    this.manager._numBytesFree -= bytes;
  }
}

/** Tells of data that comes to the GPU later than it was made: what was made of values, when a kernel first wants it. */
export function onUpload(backend: WebGlBackend, tell: (dataId: DataId) => void): void {
  const { texData, uploadToGPU } = backend;
  backend.uploadToGPU = (dataId) => {
    const there = texData.get(dataId).texture != null;
    uploadToGPU.call(backend, dataId);
    if (!there) tell(dataId);
  };
}
