package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.Reflection;
import java.lang.invoke.MethodHandle;

/**
 * Bytes of PyTorch tensors. The engine knows, but asking takes two calls; so the two numbers are read where the tensor
 * keeps them. Where that is, is found with tensors that are known, and one reading in {@link #CHECKED} is compared with
 * the engine's answer: if they ever differ, the engine is asked from then on.
 *
 * <p>A view counts as large as it is, but no larger than the memory behind it: a broadcast array has little.
 */
final class TensorBytes {

    private static final int CHECKED = 256;
    private static final int TYPES = 64;
    private static final long LARGE = 1 << 16; // from here on it matters whether an array is broadcast

    /**
     * By DataType's ordinals: FLOAT32, FLOAT64, FLOAT16, UINT8, INT32, INT8, INT64, BOOLEAN, COMPLEX64, UNKNOWN, STRING,
     * BFLOAT16, UINT64, UINT32, UINT16, INT16. 0.20.0 has neither COMPLEX64 nor what follows STRING.
     */
    private static final int[] ELEMENT_BYTES = {4, 8, 2, 1, 4, 1, 8, 1, 8, 4, 4, 2, 8, 4, 2, 2};

    private static final int[] KNOWN_TYPES = {0, 1, 3, 4, 6, 7};

    private final MethodHandle sizes; // (long)long[]
    private final MethodHandle type; // (long)int
    private final int elementsAt;
    private final int typeAt;
    private final int storageBytesAt;
    private final byte[] bytesOfType = new byte[TYPES]; // by the tensor's own number for it; 0: not met yet
    private volatile boolean trusted;
    private int readings; // lossy: only says when to compare

    TensorBytes(PyTorchLibrary library) throws ReflectiveOperationException {
        sizes = library.find("torchSizes", long[].class, long.class);
        type = library.find("torchDType", int.class, long.class);
        Samples samples = new Samples(library);
        elementsAt = Native.findElements(samples.tensors, samples.elements);
        typeAt = Native.findType(samples.tensors, samples.types);
        storageBytesAt = Native.findStorageBytes(samples.tensors, samples.bytes);
        samples.delete();
        trusted = elementsAt >= 0 && typeAt >= 0;
    }

    boolean trusted() {
        return trusted;
    }

    int storageAt() {
        return storageBytesAt < 0 ? -1 : storageBytesAt >> 16;
    }

    long of(long tensor) {
        long bytes = ofElements(tensor);
        if (bytes < LARGE || storageBytesAt < 0) {
            return bytes;
        }
        long storage = Native.storageBytes(tensor, storageBytesAt);
        return storage < 0 ? bytes : Math.min(bytes, storage);
    }

    private long ofElements(long tensor) {
        if (!trusted) {
            return asked(tensor);
        }
        long read = Native.probe(tensor, elementsAt, typeAt);
        int number = (int) read & 0xffff;
        int each = number < TYPES ? bytesOfType[number] : 0;
        if (each == 0 || (++readings & (CHECKED - 1)) == 0) {
            return compared(tensor, read >> 16, number);
        }
        return (read >> 16) * each;
    }

    private long compared(long tensor, long elements, int number) {
        long bytes = asked(tensor);
        int each = elements == 0 ? 0 : (int) (bytes / elements);
        boolean right = elements * each == bytes && number < TYPES;
        if (!right || (each != 0 && bytesOfType[number] != 0 && bytesOfType[number] != each)) {
            trusted = false;
        } else if (each != 0) {
            bytesOfType[number] = (byte) each;
        }
        return bytes;
    }

    private long asked(long tensor) {
        try {
            long bytes = ELEMENT_BYTES[(int) type.invokeExact(tensor) & (ELEMENT_BYTES.length - 1)];
            for (long size : (long[]) sizes.invokeExact(tensor)) {
                bytes *= size;
            }
            return bytes;
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }

    /** Tensors of known sizes and types: two of each type, and no size that could be taken for another field. */
    private static final class Samples {
        final long[] tensors = new long[2 * KNOWN_TYPES.length];
        final long[] elements = new long[tensors.length];
        final long[] types = new long[tensors.length];
        final long[] bytes = new long[tensors.length];
        private final MethodHandle delete;

        Samples(PyTorchLibrary library) throws ReflectiveOperationException {
            MethodHandle empty =
                    library.find(
                            "torchEmpty",
                            long.class,
                            long[].class,
                            int.class,
                            int.class,
                            int[].class,
                            boolean.class);
            delete = library.find("torchDeleteTensor", void.class, long.class);
            try {
                for (int i = 0; i < tensors.length; i++) {
                    long[] shape = {i + 3, 2 * i + 11};
                    int ordinal = KNOWN_TYPES[i / 2];
                    tensors[i] = (long) empty.invokeExact(shape, ordinal, 0, new int[] {0, -1}, false);
                    elements[i] = shape[0] * shape[1];
                    types[i] = ordinal;
                    bytes[i] = elements[i] * ELEMENT_BYTES[ordinal];
                }
            } catch (Throwable e) {
                throw Reflection.unexpected(e);
            }
        }

        void delete() {
            try {
                for (long tensor : tensors) {
                    delete.invokeExact(tensor);
                }
            } catch (Throwable e) {
                throw Reflection.unexpected(e);
            }
        }
    }
}
