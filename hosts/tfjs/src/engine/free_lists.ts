// What GPU backends keep for reuse. TensorFlow.js never gives it back: three hundred sizes, tidied, leave three hundred
// buffers. Structural, like all that is known of TensorFlow.js.
import type { Backend, Engine } from './tfjs';

interface GpuBuffer {
  readonly size: number;
  destroy(): void;
}

/** Of backend webgpu. */
interface BufferManager {
  freeBuffers: Map<string, GpuBuffer[]>;
  numFreeBuffers: number;
  numBytesUsed: number;
  numBytesAllocated: number;
}

interface Texture {
  readonly texture: object;
}

/** Of backend webgl. */
interface TextureManager {
  freeTextures: Record<string, Texture[]> | null;
  numFreeTextures: number;
  _numBytesAllocated: number;
  _numBytesFree: number;
  releaseTexture(texture: Texture, ...how: unknown[]): void;
  readonly gpgpu: { deleteMatrixTexture(texture: object): void };
}

type GpuBackend = Backend & { bufferManager?: BufferManager; textureManager?: TextureManager };

/** What a backend has taken of its device, and what of it lies idle. */
export interface FreeList {
  readonly allocated: number;
  readonly idle: number;
  /** Gives idle memory back to the device until so many bytes have gone; says how many did. */
  trim(bytes: number): number;
}

class FreeBuffers implements FreeList {
  constructor(private readonly manager: BufferManager) {}

  get allocated(): number {
    return this.manager.numBytesAllocated;
  }

  get idle(): number {
    return this.manager.numBytesAllocated - this.manager.numBytesUsed;
  }

  trim(bytes: number): number {
    const { manager } = this;
    let given = 0;
    for (const buffers of manager.freeBuffers.values()) {
      while (given < bytes && buffers.length > 0) {
        const buffer = buffers.pop() as GpuBuffer;
        manager.numFreeBuffers--;
        manager.numBytesAllocated -= buffer.size;
        given += buffer.size;
        buffer.destroy();
      }
    }
    return given;
  }
}

/**
 * A texture does not say how large it is, but the manager counts it when it is released. Where one was before anybody
 * looked, all idle ones go. No more than must: what is deleted stays with the GPU's process until its work is done, and
 * textures that are made anew in the meantime come on top.
 */
class FreeTextures implements FreeList {
  private readonly sizes = new WeakMap<Texture, number>();

  constructor(private readonly manager: TextureManager) {
    const { releaseTexture } = manager;
    manager.releaseTexture = (texture, ...how) => {
      const before = manager._numBytesFree;
      releaseTexture.call(manager, texture, ...how);
      this.sizes.set(texture, manager._numBytesFree - before);
    };
  }

  get allocated(): number {
    return this.manager._numBytesAllocated;
  }

  get idle(): number {
    return this.manager._numBytesFree;
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

const known = new WeakMap<object, FreeList>();

function knownOr(manager: object, make: () => FreeList): FreeList {
  const list = known.get(manager) ?? make();
  known.set(manager, list);
  return list;
}

/** Undefined for a backend that keeps nothing, or nothing that is known. */
export function freeListOf(backend: Backend): FreeList | undefined {
  const { bufferManager, textureManager } = backend as GpuBackend;
  if (bufferManager?.freeBuffers instanceof Map)
    return knownOr(bufferManager, () => new FreeBuffers(bufferManager));
  if (typeof textureManager?._numBytesFree === 'number')
    return knownOr(textureManager, () => new FreeTextures(textureManager));
  return undefined;
}

/** Gives back so many bytes of what an engine's backends keep idle, or all there is. */
export function trimFreeLists(engine: Engine, bytes: number): number {
  let given = 0;
  for (const backend of Object.values(engine.registry)) {
    if (given >= bytes) break;
    given += freeListOf(backend)?.trim(bytes - given) ?? 0;
  }
  return given;
}
