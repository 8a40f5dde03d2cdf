package dev.ebb.djl.core.engines;

import java.util.Arrays;

/**
 * Handles of dead arrays on their way back to the engine, many in one call: {@code native/deletes.cc} says why. One for
 * each thread. Whoever adds flushes before it returns to the program; a thread that does neither has no memory here, since
 * there may be many thousands of them.
 */
public final class Deletions {

    private static final int BATCH = 1024; // kBatch in native/deletes.cc
    private static final int FEW = 8;
    private static final long[] NONE = {};
    private static final ThreadLocal<Deletions> OF_THREAD = ThreadLocal.withInitial(Deletions::new);

    private long[] handles = NONE;
    private PyTorchAdapter adapter;
    private int count;

    private Deletions() {}

    static void add(PyTorchAdapter adapter, long handle) {
        Deletions own;
        try {
            own = OF_THREAD.get();
            own.makeRoom(adapter);
        } catch (OutOfMemoryError e) {
            adapter.delete(handle); // nobody else has it any more
            return;
        }
        own.handles[own.count++] = handle;
    }

    private void makeRoom(PyTorchAdapter wanted) {
        if (count == BATCH || adapter != wanted) {
            send();
            adapter = wanted;
        }
        if (count == handles.length) {
            handles = Arrays.copyOf(handles, Math.max(FEW, 2 * count));
        }
    }

    public static void flush() {
        Deletions own = OF_THREAD.get();
        own.send();
        if (own.handles.length > FEW) {
            own.handles = NONE;
        }
    }

    private void send() {
        int all = count;
        count = 0;
        if (all == 0) {
            return;
        }
        try {
            adapter.deleteAll(handles, all);
        } catch (RuntimeException | OutOfMemoryError e) { // it has deleted none
            for (int i = 0; i < all; i++) {
                adapter.delete(handles[i]);
            }
        }
    }
}
