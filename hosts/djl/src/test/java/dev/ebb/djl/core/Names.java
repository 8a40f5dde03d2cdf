package dev.ebb.djl.core;

import ai.djl.ndarray.NDArray;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** What calls at the border have made, for later calls; shared by all threads. */
final class Names {
    private static final int KEPT = 1024;
    private static final int BATCH = 256;

    final Path folder;
    private final AtomicReferenceArray<Long> handles = new AtomicReferenceArray<>(1 << 16);
    private final AtomicReferenceArray<Object> others = new AtomicReferenceArray<>(KEPT);
    private final AtomicLong made = new AtomicLong();
    private final AtomicLong kept = new AtomicLong();
    private volatile long tensor;
    private volatile NDArray array; // behind that address

    Names(Path folder) {
        this.folder = folder;
    }

    void tensor(NDArray known) {
        array = known;
        tensor = (long) ((ai.djl.util.NativeResource<?>) known).getHandle();
    }

    long tensor() {
        return tensor;
    }

    /** A handle of the core's; ended perhaps. */
    long handle(int any) {
        Long found = handles.get(any & (handles.length() - 1));
        return found == null ? 0 : found;
    }

    /** A region, a device, a site or a buffer; null: none. */
    Object other(int any) {
        return others.get(any & (KEPT - 1));
    }

    void made(String method, Object[] given, Object result) {
        if (method.equals("adopt")) {
            keep((long[]) given[2], (int) given[1]);
        } else if (result instanceof Long || result instanceof Integer || result instanceof ByteBuffer) {
            others.set((int) kept.getAndIncrement() & (KEPT - 1), result);
        }
    }

    /** What one takes the place of ends, so that all ends are known. */
    private void keep(long[] more, int count) {
        long[] ending = new long[BATCH];
        int ended = 0;
        for (int i = 0; i < count; i++) {
            int place = (int) made.getAndIncrement() & (handles.length() - 1);
            Long old = more[i] == 0 ? null : handles.getAndSet(place, more[i]);
            if (old != null) {
                ending[ended++] = old;
            }
        }
        Native.end(ending, ended, 0);
    }

    void endAll() {
        for (int i = 0; i < handles.length(); i++) {
            if (handles.get(i) != null) {
                Native.end(new long[] {handles.get(i)}, 1, 0);
            }
        }
        for (int i = 0; i < KEPT; i++) {
            if (others.get(i) instanceof ByteBuffer buffer) {
                try {
                    Native.release(buffer);
                } catch (IllegalArgumentException e) {
                    continue; // back already
                }
            }
        }
        java.lang.ref.Reference.reachabilityFence(array);
    }
}
