// Whether a webgpu device works, at once: `lost` is told only after the job. A pixel takes the way that TensorFlow.js's
// synchronous reads take, through the device's queue, a canvas, and back. A device that has gone leaves the canvas empty.
interface Texture {
  readonly [texture: symbol]: never;
}

interface GpuCanvas {
  configure(how: object): void;
  getCurrentTexture(): Texture;
}

interface Picture {
  clearRect(x: number, y: number, width: number, height: number): void;
  drawImage(from: object, x: number, y: number): void;
  getImageData(
    x: number,
    y: number,
    width: number,
    height: number,
  ): { readonly data: ArrayLike<number> };
}

interface Canvas {
  getContext(kind: 'webgpu'): GpuCanvas | null;
  getContext(kind: '2d', how: object): Picture | null;
}

export interface WitnessedDevice {
  readonly queue?: {
    writeTexture(to: object, data: Uint8Array, layout: object, size: number[]): void;
  };
}

declare const OffscreenCanvas: (new (width: number, height: number) => Canvas) | undefined;

/** Of GPUTextureUsage. */
const COPY_DST = 2;
const OPAQUE = 255;

/** What the pixel goes through, made for the first question. */
interface Way {
  readonly canvas: Canvas;
  readonly context: GpuCanvas;
  readonly picture: Picture;
}

function wayOf(
  device: WitnessedDevice,
  Canvases: new (width: number, height: number) => Canvas,
): Way {
  const canvas = new Canvases(1, 1);
  const context = canvas.getContext('webgpu') as GpuCanvas;
  context.configure({ device, format: 'bgra8unorm', usage: COPY_DST, alphaMode: 'opaque' });
  const picture = new Canvases(1, 1).getContext('2d', { willReadFrequently: true }) as Picture;
  return { canvas, context, picture };
}

export class Witness {
  private way: Way | undefined;
  private shade = 0;

  constructor(private readonly device: WitnessedDevice) {}

  /** False for a device that no longer does what it is told. Without canvases nothing can be read at once, nor asked. */
  agrees(): boolean {
    if (typeof OffscreenCanvas !== 'function') return true;
    try {
      this.way ??= wayOf(this.device, OffscreenCanvas);
      return this.comesBack(this.way);
    } catch {
      return false;
    }
  }

  private comesBack({ canvas, context, picture }: Way): boolean {
    this.shade = (this.shade % OPAQUE) + 1; // another one each time, never that of an empty canvas
    const pixel = new Uint8Array([this.shade, this.shade, this.shade, OPAQUE]);
    const texture = context.getCurrentTexture();
    this.device.queue?.writeTexture({ texture }, pixel, {}, [1, 1]);
    picture.clearRect(0, 0, 1, 1);
    picture.drawImage(canvas, 0, 0);
    return picture.getImageData(0, 0, 1, 1).data[0] === this.shade;
  }
}
