// Einsum as one matrix product: the axes of each operand are gathered into shared, own and summed ones.
import { backend_util, type Tensor, type TensorInfo } from '@tensorflow/tfjs-core';
import type { EbbBackend } from '../backend';
import { type Kernel, runOp } from '../recipe';
import { inShape } from './views';

/** A tensor and the axes it has, by their number in the equation. */
interface Term {
  info: TensorInfo;
  axes: number[];
}

const product = (sizes: number[]): number => sizes.reduce((a, b) => a * b, 1);

class Einsum {
  private readonly made: TensorInfo[] = [];

  constructor(
    private readonly backend: EbbBackend,
    private readonly outputRank: number,
  ) {}

  one(term: Term): TensorInfo {
    return this.finish(this.sumOver(term, (axis) => axis >= this.outputRank));
  }

  two(first: Term, second: Term): TensorInfo {
    const a = this.sumOver(first, (axis) => axis >= this.outputRank && !second.axes.includes(axis));
    const b = this.sumOver(second, (axis) => axis >= this.outputRank && !first.axes.includes(axis));
    const both = a.axes.filter((axis) => b.axes.includes(axis));
    const shared = both.filter((axis) => axis < this.outputRank);
    const summed = both.filter((axis) => axis >= this.outputRank);
    const left = a.axes.filter((axis) => !both.includes(axis));
    const right = b.axes.filter((axis) => !both.includes(axis));
    const sizes = this.sizesOf(a, b);
    const size = (axes: number[]): number => product(axes.map((axis) => sizes.get(axis) as number));
    const [batch, rows, inner, columns] = [shared, left, summed, right].map(size) as Quad;
    const x = inShape(this.ordered(a, [...shared, ...left, ...summed]), [batch, rows, inner]);
    const y = inShape(this.ordered(b, [...shared, ...summed, ...right]), [batch, inner, columns]);
    const products = this.keep(
      runOp(this.backend, 'BatchMatMul', [x, y], { transposeA: false, transposeB: false }),
    );
    const axes = [...shared, ...left, ...right];
    const shape = axes.map((axis) => sizes.get(axis) as number);
    return this.finish({ info: inShape(products, shape), axes });
  }

  private sizesOf(...terms: Term[]): Map<number, number> {
    return new Map(
      terms.flatMap(({ axes, info }) => axes.map((axis, i) => [axis, info.shape[i] as number])),
    );
  }

  private sumOver({ info, axes }: Term, gone: (axis: number) => boolean): Term {
    const positions = axes.map((axis, i) => (gone(axis) ? i : -1)).filter((i) => i >= 0);
    if (positions.length === 0) return { info, axes };
    const sum = runOp(this.backend, 'Sum', [info], { axes: positions, keepDims: false });
    return { info: this.keep(sum), axes: axes.filter((axis) => !gone(axis)) };
  }

  private ordered({ info, axes }: Term, order: number[]): TensorInfo {
    const perm = order.map((axis) => axes.indexOf(axis));
    if (perm.every((from, to) => from === to)) return info;
    return this.keep(runOp(this.backend, 'Transpose', [info], { perm }));
  }

  private keep(info: TensorInfo): TensorInfo {
    this.made.push(info);
    return info;
  }

  /** The term in the order of the output, everything made on the way let go. */
  private finish(term: Term): TensorInfo {
    const result = this.ordered(
      term,
      [...term.axes].sort((a, b) => a - b),
    );
    this.backend.incRef(result.dataId);
    this.backend.release(...this.made);
    return result;
  }
}

type Quad = [number, number, number, number];

export const einsum: Kernel = ({ inputs, attrs, backend }) => {
  const tensors = Object.values(inputs);
  const decoded = backend_util.decodeEinsumEquation(attrs.equation as string, tensors.length);
  const { allDims, summedDims, idDims } = decoded;
  backend_util.checkEinsumDimSizes(allDims.length, idDims, tensors as unknown as Tensor[]);
  const run = new Einsum(backend, allDims.length - summedDims.length);
  const [a, b] = tensors.map((info, i): Term => ({ info, axes: idDims[i] as number[] }));
  return b === undefined ? run.one(a as Term) : run.two(a as Term, b);
};
