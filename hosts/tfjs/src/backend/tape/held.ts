// What TensorFlow.js would save of the forward pass, by clones. Few of them are ever used: the data is held, and tensors
// are made of it only where TensorFlow.js's own gradients are taken after all.
import { engine, type Tensor } from '@tensorflow/tfjs-core';
import type { DataId, Engine } from '../../engine/tfjs';
import { EbbData } from '../data';

/** Stands in a node's list of saved tensors. */
const NOTHING = { dispose(): void {} } as unknown as Tensor;

const incRef = (dataId: DataId): void => {
  if (dataId instanceof EbbData && dataId.handle > 0) dataId.refCount++;
  else backendOf(dataId)?.incRef(dataId);
};

function backendOf(dataId: DataId): { incRef(dataId: DataId): void } | undefined {
  const record = (engine() as unknown as Engine).state.tensorInfo.get(dataId);
  return record?.backend as unknown as { incRef(dataId: DataId): void } | undefined;
}

/** As the end of a tensor, but for the tensor. */
function letGo(dataId: DataId): void {
  if (dataId instanceof EbbData && dataId.refCount > 1) {
    dataId.refCount--;
    return;
  }
  const tracker = engine() as unknown as Engine;
  const record = tracker.state.tensorInfo.get(dataId);
  if (record?.backend.disposeData(dataId)) tracker.removeDataId(dataId, record.backend);
}

/** The engine's, as `clone` calls it. */
interface Noting {
  addTapeNode(
    kernelName: string,
    inputs: Record<string, Tensor>,
    outputs: Tensor[],
    gradient: null,
    saved: Tensor[],
    attrs: object,
  ): void;
}

export class Held {
  private readonly tensors: Tensor[] = [];
  /** The data they had: a variable may have got another. */
  private readonly datas: DataId[] = [];
  /** The list that each is to be in, as many times. */
  private readonly lists: Tensor[][] = [];

  /** In place of `saveTensorsForBackwardMode`. */
  hold(tensors: readonly Tensor[]): Tensor[] {
    const list: Tensor[] = [];
    for (let i = 0; i < tensors.length; i++) {
      const tensor = tensors[i] as Tensor;
      incRef(tensor.dataId);
      this.tensors.push(tensor);
      this.datas.push(tensor.dataId);
      this.lists.push(list);
      list.push(NOTHING);
    }
    return list;
  }

  /** The clones that TensorFlow.js would have saved, in its lists; on the tape as well, where that goes on. */
  becomeTensors(onTape: boolean): void {
    const { tensors, datas, lists } = this;
    let at = 0;
    for (let i = 0; i < tensors.length; i++) {
      const list = lists[i] as Tensor[];
      at = i > 0 && lists[i - 1] === list ? at + 1 : 0;
      const x = tensors[i] as Tensor;
      const info = { dataId: datas[i] as DataId, shape: x.shape, dtype: x.dtype };
      const clone = engine().makeTensorFromTensorInfo(info);
      list[at] = engine().keep(clone);
      if (onTape)
        (engine() as unknown as Noting).addTapeNode('Identity', { x }, [clone], null, [], {});
    }
    this.forget();
  }

  letGo(): void {
    for (const dataId of this.datas) letGo(dataId);
    this.forget();
  }

  private forget(): void {
    this.tensors.length = this.datas.length = this.lists.length = 0;
  }
}
