package ai.djl.pytorch.engine;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.util.NativeResource;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Stands for a PyTorch with a GPU, whose libraries do not fit a test: managers and arrays that say they are on {@code
 * gpu(0)}, over memory of the CPU.
 */
public final class ClaimedGpu {
    private ClaimedGpu() {}

    private static final class Array extends PtNDArray {
        Array(PtNDManager manager, long handle) {
            super(manager, handle);
        }

        @Override
        public Device getDevice() {
            return Device.gpu(0);
        }
    }

    /** A manager of the GPU's. */
    public static NDManager manager(NDManager parent) {
        return parent.newSubManager(Device.gpu(0));
    }

    /** An array of it, whichever device its manager is of. */
    public static NDArray array(NDManager manager, long elements) {
        try (NDManager cpu = NDManager.newBaseManager(Device.cpu())) {
            PtNDArray made = (PtNDArray) cpu.create(new Shape(elements));
            Field handle = NativeResource.class.getDeclaredField("handle");
            handle.setAccessible(true);
            return new Array((PtNDManager) manager, (Long) ((AtomicReference<?>) handle.get(made)).getAndSet(null));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
