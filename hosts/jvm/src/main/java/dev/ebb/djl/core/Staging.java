package dev.ebb.djl.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory in which Java data goes to the engine, which copies it. Small ones are kept for the thread; a large one is freed
 * when the array has been made. (Direct buffers would wait for the collector.)
 */
final class Staging {

    private static final int KEPT = 1 << 16;
    private static final ThreadLocal<Staging> OF_THREAD = ThreadLocal.withInitial(Staging::new);

    private final ByteBuffer kept = ByteBuffer.allocateDirect(KEPT);
    private ByteBuffer large;
    private boolean busy;

    private Staging() {}

    static ByteBuffer take(int bytes) {
        return OF_THREAD.get().next(bytes);
    }

    static void giveBack() {
        Staging staging = OF_THREAD.get();
        staging.busy = false;
        if (staging.large != null) {
            ByteBuffer large = staging.large;
            staging.large = null;
            Native.release(large);
        }
    }

    private ByteBuffer next(int bytes) {
        if (busy) { // given out and not back yet: somebody else's business
            return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        }
        busy = true;
        if (bytes <= KEPT) {
            return kept.duplicate().limit(bytes).slice().order(ByteOrder.nativeOrder());
        }
        large = Native.allocate(bytes);
        return large.duplicate().order(ByteOrder.nativeOrder());
    }
}
