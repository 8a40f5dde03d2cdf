package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Native;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Memory in which Java data goes to the engine, which copies it; it is given back when the array has been made. Small
 * ones are kept for the next, as many as there are processors, however many threads there are. (Direct buffers of the
 * JDK's would wait for the collector.)
 */
public final class Staging {

    /** {@code ebb.own=false}: an array made from a direct buffer of the program's shares its memory, as in stock DJL. */
    public static final boolean ALIASES = "false".equalsIgnoreCase(System.getProperty("ebb.own"));

    private static final int SMALL = 1 << 16;
    private static final ArrayBlockingQueue<ByteBuffer> KEPT =
            new ArrayBlockingQueue<>(Runtime.getRuntime().availableProcessors());
    private static final ConcurrentHashMap<Thread, Taken> TAKEN = new ConcurrentHashMap<>();

    /** The memory, and the buffer over it that was given out. */
    private record Taken(ByteBuffer memory, ByteBuffer given) {}

    private Staging() {}

    public static boolean mayAlias(ByteBuffer data) {
        if (!ALIASES) {
            return false;
        }
        Taken taken = TAKEN.get(Thread.currentThread());
        return taken == null || taken.given != data;
    }

    public static ByteBuffer take(int bytes) {
        Thread thread = Thread.currentThread();
        if (TAKEN.containsKey(thread)) { // not back yet: this one is somebody else's business
            return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        }
        ByteBuffer kept = bytes <= SMALL ? KEPT.poll() : null;
        ByteBuffer memory = kept != null ? kept : Native.allocate(Math.max(bytes, SMALL));
        ByteBuffer given = memory.duplicate().limit(bytes).slice().order(ByteOrder.nativeOrder());
        TAKEN.put(thread, new Taken(memory, given));
        return given;
    }

    public static void giveBack() {
        Taken taken = TAKEN.remove(Thread.currentThread());
        if (taken != null && (taken.memory.capacity() > SMALL || !KEPT.offer(taken.memory))) {
            Native.release(taken.memory);
        }
    }
}
