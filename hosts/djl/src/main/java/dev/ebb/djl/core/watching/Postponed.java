package dev.ebb.djl.core.watching;

import dev.ebb.djl.core.Native;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * The dead that a finalizer may still use. The collector clears weak references before it hands out the objects to finalize,
 * so what one of these reaches is dead to Ebb and in use on the JVM's finalizer thread. What was on the queue before
 * {@link #inUse} says no is used by none: its collection's finalizers have run.
 */
final class Postponed {

    private static final AtomicReference<Mark> CHAIN = new AtomicReference<>();
    private static final Thread FINALIZER = find();
    private static final long PATIENCE_NANOS = 1_000_000_000;
    private static final long PAUSE_NANOS = 100_000;

    private Postponed() {}

    /** Null: this JVM has no finalizers. */
    private static Thread find() {
        ThreadGroup all = Thread.currentThread().getThreadGroup();
        while (all.getParent() != null) {
            all = all.getParent();
        }
        Thread[] threads = new Thread[all.activeCount() + 64];
        int count = all.enumerate(threads, false);
        for (int i = 0; i < count; i++) {
            if (threads[i].getName().equals("Finalizer")) {
                return threads[i];
            }
        }
        return null;
    }

    /** Whether there are finalizers that have not ended. */
    static boolean inUse() {
        return Native.referencesArriving()
                || Native.finalizersPending()
                || (FINALIZER != null && FINALIZER.getState() != Thread.State.WAITING);
    }

    /** Waits for finalizers, but not for ever. */
    static void await() {
        long until = System.nanoTime() + PATIENCE_NANOS;
        while (Thread.currentThread() != FINALIZER && inUse() && System.nanoTime() < until) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    static boolean isEmpty() {
        return CHAIN.get() == null;
    }

    static void add(Mark dead) {
        Mark first;
        do {
            first = CHAIN.get();
            dead.next = first;
        } while (!CHAIN.compareAndSet(first, dead));
    }

    static void addAll(Mark chain) {
        for (Mark each = chain; each != null; ) {
            Mark next = each.next;
            add(each);
            each = next;
        }
    }

    static Mark takeAll() {
        return CHAIN.get() == null ? null : CHAIN.getAndSet(null);
    }
}
