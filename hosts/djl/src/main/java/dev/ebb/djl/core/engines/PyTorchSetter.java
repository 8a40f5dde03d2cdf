package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Reflection;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;

/**
 * Overwrites a tensor in place with Java data. DJL would make the tensor alias the buffer, and so every view of it and
 * the autograd graph, none of which keep the buffer alive.
 */
final class PyTorchSetter {

    private static final int CPU = 0;

    private final MethodHandle sizes;
    private final MethodHandle type;
    private final MethodHandle device;
    private final MethodHandle fromBlob;
    private final MethodHandle isGradMode;
    private final MethodHandle setGradMode;
    private final MethodHandle indexInit;
    private final MethodHandle appendEllipsis;
    private final MethodHandle indexPut;
    private final MethodHandle indexDelete; // null: putting deletes it (0.20.0)
    private final MethodHandle delete;

    PyTorchSetter(PyTorchLibrary library) throws ReflectiveOperationException {
        sizes = library.find("torchSizes", long[].class, long.class);
        type = library.find("torchDType", int.class, long.class);
        device = library.find("torchDevice", int[].class, long.class);
        fromBlob =
                library.find(
                        "torchFromBlob",
                        long.class,
                        ByteBuffer.class,
                        long[].class,
                        int.class,
                        int.class,
                        int[].class,
                        boolean.class);
        isGradMode = library.find("torchIsGradMode", boolean.class);
        setGradMode = library.find("torchSetGradMode", void.class, boolean.class);
        indexInit = library.find("torchIndexInit", long.class, int.class);
        appendEllipsis =
                library.find("torchIndexAppendNoneEllipsis", void.class, long.class, boolean.class);
        indexPut = library.find("torchIndexAdvPut", void.class, long.class, long.class, long.class);
        indexDelete = library.findOrNull("torchDeleteIndex", void.class, long.class);
        delete = library.find("torchDeleteTensor", void.class, long.class);
    }

    /** False if the tensor is not on the CPU: there the native side copies by itself. */
    boolean set(long tensor, ByteBuffer data) {
        try {
            int[] place = (int[]) device.invokeExact(tensor);
            if (place[0] != CPU) {
                return false;
            }
            long[] shape = (long[]) sizes.invokeExact(tensor);
            int dtype = (int) type.invokeExact(tensor);
            long source = (long) fromBlob.invokeExact(data, shape, dtype, 0, place, false);
            boolean recording = (boolean) isGradMode.invokeExact();
            setGradMode.invokeExact(false);
            try {
                copy(tensor, source);
            } finally {
                setGradMode.invokeExact(recording);
                delete.invokeExact(source);
            }
            return true;
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }

    private void copy(long target, long source) throws Throwable {
        long index = (long) indexInit.invokeExact(1);
        try {
            appendEllipsis.invokeExact(index, true);
            indexPut.invokeExact(target, index, source);
        } finally {
            if (indexDelete != null) {
                indexDelete.invokeExact(index);
            }
        }
    }
}
