// What GPU backends keep for reuse. TensorFlow.js never gives it back: three hundred sizes, tidied, leave three hundred
// buffers. Structural, like all that is known of TensorFlow.js.
import { FreeTextures, type WebGlBackend } from './textures';
import type { Backend, DataId, Engine } from './tfjs';

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

type GpuBackend = Backend & { bufferManager?: BufferManager } & Partial<WebGlBackend>;

/** What a backend has taken of its device, and what of it lies idle. */
export interface FreeList {
  readonly allocated: number;
  readonly idle: number;
  /** Gives idle memory back to the device until so many bytes have gone; says how many did. */
  trim(bytes: number): number;
  /** What data has of the device, where that is another number than its elements take. */
  bytesBehind?(dataId: DataId): number | undefined;
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

const known = new WeakMap<object, FreeList>();

function knownOr(manager: object, make: () => FreeList): FreeList {
  const list = known.get(manager) ?? make();
  known.set(manager, list);
  return list;
}

/** Undefined for a backend that keeps nothing, or nothing that is known. */
export function freeListOf(backend: Backend): FreeList | undefined {
  const { bufferManager, textureManager, texData } = backend as GpuBackend;
  if (bufferManager?.freeBuffers instanceof Map)
    return knownOr(bufferManager, () => new FreeBuffers(bufferManager));
  if (typeof textureManager?._numBytesFree === 'number')
    return knownOr(textureManager, () => new FreeTextures(textureManager, texData));
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
