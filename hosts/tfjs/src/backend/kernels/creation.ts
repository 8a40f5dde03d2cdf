import { type TensorInfo, util } from '@tensorflow/tfjs-core';
import { type Kernel, op, type Params, unary } from '../recipe';

const zerosLike = unary('ZerosLike');
const fill = op('Fill', (attrs) => ({ ...attrs, dtype: attrs.dtype ?? 'float32' }));

function fillText({ backend }: Params, shape: number[], text: string): TensorInfo {
  const bytes = util.encodeString(text);
  const values = new Array<Uint8Array>(util.sizeFromShape(shape)).fill(bytes);
  return backend.write(values, shape, 'string');
}

interface Pixels {
  width: number;
  height: number;
  /** RGBA, row by row. */
  data?: ArrayLike<number>;
  /** Canvases, those of packages for Node included. */
  getContext?(kind: '2d'): { getImageData(x: number, y: number, w: number, h: number): Pixels };
}

function pixelsOf(given: Pixels): ArrayLike<number> {
  const { data, width, height } = given;
  if (data !== undefined) return data;
  const image = given.getContext?.('2d').getImageData(0, 0, width, height);
  if (image?.data !== undefined) return image.data;
  throw new Error(
    '[FromPixels] Received an image of a browser; allowed: a canvas, or {data, width, height} with RGBA data.',
  );
}

const fromPixels: Kernel = ({ inputs, attrs, backend }) => {
  const pixels = inputs.pixels as unknown as Pixels;
  const { width, height } = pixels;
  const { numChannels } = attrs as { numChannels: number };
  const data = pixelsOf(pixels);
  const values = new Int32Array(width * height * numChannels);
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < numChannels; c++) values[i * numChannels + c] = data[i * 4 + c] as number;
  }
  return backend.write(values, [height, width, numChannels], 'int32');
};

/** Each call without a seed draws another. */
const seeded = (seed: unknown): number =>
  typeof seed === 'number' && Number.isFinite(seed) ? seed : Math.floor(Math.random() * 2 ** 31);

export const creation: Record<string, Kernel> = {
  Complex: op('Complex'),
  Fill: (params) =>
    typeof params.attrs.value === 'string'
      ? fillText(params, params.attrs.shape as number[], params.attrs.value)
      : fill(params),
  FromPixels: fromPixels,
  LinSpace: op('LinSpace'),
  Multinomial: op('Multinomial', (attrs) => ({ ...attrs, seed: seeded(attrs.seed) })),
  OneHot: op('OneHot'),
  OnesLike: unary('OnesLike'),
  Range: op('Range'),
  ZerosLike: (params) => {
    const x = params.inputs.x as TensorInfo;
    return x.dtype === 'string' ? fillText(params, x.shape, '') : zerosLike(params);
  },
};
