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

/** A texture does not say how large it is, so all idle ones go, or none. */
class FreeTextures implements FreeList {
  constructor(private readonly manager: TextureManager) {}

  get allocated(): number {
    return this.manager._numBytesAllocated;
  }

  get idle(): number {
    return this.manager._numBytesFree;
  }

  trim(bytes: number): number {
    const { manager } = this;
    const idle = manager._numBytesFree;
    if (manager.freeTextures === null || bytes <= 0 || idle === 0) return 0;
    for (const textures of Object.values(manager.freeTextures)) {
      for (const { texture } of textures) manager.gpgpu.deleteMatrixTexture(texture);
      manager.numFreeTextures -= textures.length;
      textures.length = 0;
    }
    manager._numBytesAllocated -= idle;
    manager._numBytesFree = 0;
    return idle;
  }
}

/** Undefined for a backend that keeps nothing, or nothing that is known. */
export function freeListOf(backend: Backend): FreeList | undefined {
  const { bufferManager, textureManager } = backend as GpuBackend;
  if (bufferManager?.freeBuffers instanceof Map) return new FreeBuffers(bufferManager);
  if (typeof textureManager?._numBytesFree === 'number') return new FreeTextures(textureManager);
  return undefined;
}

/** Gives back up to so many bytes of what an engine's backends keep idle; webgl gives all it has, or nothing. */
export function trimFreeLists(engine: Engine, bytes: number): number {
  let given = 0;
  for (const backend of Object.values(engine.registry)) {
    if (given >= bytes) break;
    given += freeListOf(backend)?.trim(bytes - given) ?? 0;
  }
  return given;
}
