// A kernel's way through the engine without what only gradients, profiles and TensorFlow.js's own tests ask for. The
// engine puts the kernel's name together anew twice and asks for five settings: a fifth of what a small operation takes.
import type { Backend, Engine, KernelCall, Tensor, TensorInfo } from './tfjs';

interface Kernel {
  kernelFunc(call: {
    inputs: unknown;
    attrs: unknown;
    backend: Backend;
  }): TensorInfo | TensorInfo[];
}

/** What all copies of tfjs-core share. */
const shared = globalThis as { _tfGlobals?: Map<string, unknown> };

class Direct {
  /** The registry's names for the kernels of one backend. */
  private readonly names = new Map<string, string>();
  private backendName: string | null = null;
  private registry: Map<string, Kernel> | undefined;

  constructor(private readonly engine: Engine) {}

  /** Whether the backend in use has this kernel; false also where the engine has to find out. */
  has(kernelName: string): boolean {
    return this.find(kernelName) !== undefined;
  }

  /** Runs a kernel; undefined: only the engine can. */
  run(call: KernelCall): Tensor | Tensor[] | undefined {
    const kernel = this.notesNothing() ? this.find(call.kernelName as string) : undefined;
    if (kernel === undefined) return undefined;
    const { engine } = this;
    const { state, backend } = engine;
    state.kernelDepth++;
    try {
      const out = kernel.kernelFunc({ inputs: call.inputs, attrs: call.attrs, backend });
      return Array.isArray(out) ? out.map((info) => this.tensor(info)) : this.tensor(out);
    } finally {
      state.kernelDepth--;
    }
  }

  /** Nobody wants a gradient or a profile, and these settings are known to be off. */
  private notesNothing(): boolean {
    const { state, ENV } = this.engine;
    const { DEBUG, IS_TEST } = ENV.flags;
    const taping = state.gradientDepth > 0 && state.kernelDepth === 0;
    return DEBUG === false && IS_TEST === false && !state.profiling && !taping;
  }

  private tensor(info: TensorInfo): Tensor {
    return info.rank != null ? (info as Tensor) : this.engine.makeTensorFromTensorInfo(info);
  }

  private find(kernelName: string): Kernel | undefined {
    const { backendName } = this.engine;
    if (backendName !== this.backendName) {
      this.backendName = backendName;
      this.names.clear();
    }
    let name = this.names.get(kernelName);
    if (name === undefined) {
      if (backendName === null) return undefined;
      name = `${backendName}_${kernelName}`;
      this.names.set(kernelName, name);
      this.registry = shared._tfGlobals?.get('kernelRegistry') as Map<string, Kernel> | undefined;
    }
    return this.registry?.get(name);
  }
}

const INSTALLED = Symbol.for('ebb-tfjs.direct');

/** Lets an engine run its kernels so, once. */
export function runDirectly(engine: Engine & { [INSTALLED]?: true }): void {
  if (engine[INSTALLED] === true) return;
  engine[INSTALLED] = true;
  const direct = new Direct(engine);
  const { runKernel, runKernelFunc } = engine;
  engine.runKernel = (kernelName, inputs, attrs) =>
    direct.has(kernelName)
      ? engine.runKernelFunc({ kernelName, inputs, attrs })
      : runKernel.call(engine, kernelName, inputs, attrs);
  engine.runKernelFunc = (call) => {
    const known = call.kernelName === undefined ? undefined : direct.run(call);
    return known ?? runKernelFunc.call(engine, call);
  };
}
