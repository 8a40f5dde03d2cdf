package dev.ebb.djl.core.engines;

/**
 * Handles of dead arrays on their way back to the engine, many in one call: {@code native/deletes.cc} says why. One for
 * each thread. Whoever adds flushes before it returns to the program.
 */
public final class Deletions {

    private static final int BATCH = 1024; // kBatch in native/deletes.cc
    private static final ThreadLocal<Deletions> OF_THREAD = ThreadLocal.withInitial(Deletions::new);

    private final long[] handles = new long[BATCH];
    private PyTorchAdapter adapter;
    private int count;

    private Deletions() {}

    static void add(PyTorchAdapter adapter, long handle) {
        Deletions own = OF_THREAD.get();
        if (own.count == BATCH || own.adapter != adapter) {
            own.send();
            own.adapter = adapter;
        }
        own.handles[own.count++] = handle;
    }

    public static void flush() {
        OF_THREAD.get().send();
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
