// The nodes that lead from xs to y, and whether the core's tape has heard what TensorFlow.js noted of them.
import { getGradient, getKernel, type GradConfig, type Tensor } from '@tensorflow/tfjs-core';
import type { EbbBackend } from '../backend';
import { EbbData } from '../data';
import { KERNELS } from '../kernels';
import type { Attributes } from '../recipe';

/** A node of TensorFlow.js's tape. */
export interface TapeNode {
  kernelName: string;
  inputs: Record<string, Tensor>;
  outputs: Tensor[];
  saved: Tensor[];
  /** Ebb's: the kernel's attributes. */
  attrs?: Attributes;
  /** Ebb's: the kernel within a fused operation, which is a customGrad to TensorFlow.js. */
  fused?: string;
}

export interface Path {
  /** There is a way from an x to y. */
  isThere: boolean;
  /** Why it cannot be native; empty: it can. */
  theirs: string;
}

/** TensorFlow.js's own, as they were when the backend was registered: a program may put another in place. */
const usual = new Map<string, GradConfig>();

export function rememberGradients(): void {
  for (const name of Object.keys(KERNELS)) {
    const config = getGradient(name);
    if (config != null && !usual.has(name)) usual.set(name, config);
  }
}

function isUsual(name: string): boolean {
  const [now, then] = [getGradient(name), usual.get(name)];
  if (now === then) return then !== undefined;
  if (now == null || then === undefined) return false;
  // Another copy of TensorFlow.js has registered its own, which are the same.
  if (now.gradFunc.toString() !== then.gradFunc.toString()) return false;
  usual.set(name, now);
  return true;
}

/** Fused ones have no gradient in TensorFlow.js's table. */
function ofKernel(name: string, backendName: string, fused?: string): string {
  if (fused === undefined && !isUsual(name)) return `${name} has another gradient, or none`;
  return getKernel(name, backendName)?.kernelFunc === (KERNELS[name] as unknown)
    ? ''
    : `${name} is another kernel`;
}

const CONVOLUTIONS = ['Conv2D', 'DepthwiseConv2dNative', 'FusedConv2D', 'FusedDepthwiseConv2D'];

/** What TensorFlow.js has no gradient of, the core has: a program gets the error that it expects. */
function whyRefused(name: string, { dilations = 1 }: Attributes): string {
  const isDilated = [dilations].flat().some((each) => each !== 1);
  return isDilated && CONVOLUTIONS.includes(name)
    ? 'TensorFlow.js has no gradient of dilated convolutions'
    : '';
}

const isHere = ({ dataId, dtype }: Tensor, { home }: EbbBackend): boolean =>
  dataId instanceof EbbData && dataId.home === home && dtype === 'float32';

export class Paths {
  /**
   * Data that a variable, or a tensor from before, has as well: from which node on. TensorFlow.js takes the two for
   * different tensors, the core for one.
   */
  readonly shared = new Map<object, number>();

  constructor(
    private readonly backend: EbbBackend,
    private readonly backendName: string,
  ) {}

  /** As TensorFlow.js's `getFilteredNodesXToY`. */
  between(tape: readonly TapeNode[], xs: readonly Tensor[], y: Tensor): Path {
    const fromX = new Set<number>();
    for (const { id } of xs) fromX.add(id);
    const nodes: TapeNode[] = [];
    for (let i = 0; i < tape.length; i++) {
      const node = tape[i] as TapeNode;
      if (!hasAny(node.inputs, fromX)) continue;
      nodes.push(node);
      for (const output of node.outputs) fromX.add(output.id);
    }
    const toY = new Set<number>([y.id]);
    let isThere = false;
    let theirs = this.shared.size > 0 ? this.whyShared(tape, xs, fromX) : '';
    for (let i = nodes.length - 1; i >= 0; i--) {
      const node = nodes[i] as TapeNode;
      if (!node.outputs.some(({ id }) => toY.has(id))) continue;
      isThere = true;
      theirs ||= this.whyTheirs(node, fromX);
      for (const name in node.inputs) toY.add((node.inputs[name] as Tensor).id);
    }
    return { isThere, theirs };
  }

  private whyShared(
    tape: readonly TapeNode[],
    xs: readonly Tensor[],
    fromX: ReadonlySet<number>,
  ): string {
    const ofX = new Set<object>(xs.map(({ dataId }) => dataId));
    for (const [i, { inputs, outputs }] of tape.entries()) {
      for (const { id, dataId } of Object.values(inputs)) {
        const since = this.shared.get(dataId) ?? tape.length;
        if (since <= i && !fromX.has(id) && ofX.has(dataId)) return 'tensors that share their data';
      }
      for (const { id, dataId } of outputs) if (fromX.has(id)) ofX.add(dataId);
    }
    return '';
  }

  private whyTheirs(node: TapeNode, fromX: ReadonlySet<number>): string {
    const { inputs, outputs, kernelName } = node;
    const name = node.fused ?? kernelName;
    if (!(name in KERNELS)) return 'a customGrad, or a kernel that is not of the backend';
    const why = whyRefused(name, node.attrs ?? {}) || ofKernel(name, this.backendName, node.fused);
    if (why !== '') return why;
    for (let i = 0; i < outputs.length; i++) {
      if (!isHere(outputs[i] as Tensor, this.backend)) return NOT_HERE;
    }
    for (const name in inputs) {
      const input = inputs[name] as Tensor;
      if (fromX.has(input.id) && !isHere(input, this.backend)) return NOT_HERE;
    }
    return '';
  }
}

const NOT_HERE = 'data of another backend, or another dtype than float32';

function hasAny(inputs: Record<string, Tensor>, ids: ReadonlySet<number>): boolean {
  for (const name in inputs) if (ids.has((inputs[name] as Tensor).id)) return true;
  return false;
}
