package dev.ebb.djl.core.pressure;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.observe.FlightEvents;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** Makes the JVM collect, and waits until what it found is on the queues. */
public final class Collector {

    private static final long PATIENCE_NANOS = 50_000_000;

    private static volatile boolean ignored;

    private Collector() {}

    /** Whether the JVM did not collect when it was last asked to. */
    public static boolean ignored() {
        return ignored;
    }

    public static void collect() {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> sentinel = new WeakReference<>(new Object(), queue);
        FlightEvents.collection(Collector::force);
        if (!Native.awaitReferences() || !sentinel.refersTo(null)) {
            await(sentinel);
        }
        ignored = !sentinel.refersTo(null);
    }

    private static void force() {
        if (!Native.forceCollection()) {
            System.gc();
        }
    }

    /** Without the JDK's help: until a reference that was dead before the collection has been handled. */
    private static void await(WeakReference<Object> sentinel) {
        long until = System.nanoTime() + PATIENCE_NANOS;
        while (!sentinel.refersTo(null) && System.nanoTime() < until) {
            Thread.onSpinWait();
        }
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
