package dev.ebb.djl.core;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;

/**
 * What the collector has found dead and nobody has taken yet: watches of arrays and of managers, and pins.
 *
 * <p>The JVM's handler puts them on the queue one by one; who takes them meanwhile only quarrels with it for the queue's
 * lock, so a birth waits until it has finished. Then births take a few at a time: what the engine frees one by one it
 * uses again at once, while thousands freed together go through the C library's lists twice, all of them cold.
 */
final class Notices {

    static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();

    private static final int PATIENCE = 64; // births between two looks at the handler
    private static final int FASTEST = 16;
    private static final long HURRY_NANOS = 100_000; // between two births of a program that is in a hurry
    private static final int LEAST_PACE = 1;

    private static final ArrayDeque<Watch> LATER = new ArrayDeque<>();
    private static volatile long laterBytes; // of what is in LATER, as pressure counts them; 0: nothing is

    // Lossy, all of them: they only say when to look, and how fast to go.
    private static boolean settled;
    private static int patience;
    private static int pace = LEAST_PACE;
    private static long lastTaken;
    private static WeakReference<Object> sentinel = new WeakReference<>(new Object());

    private Notices() {}

    /** Null if there is none. */
    static Reference<?> next() {
        Reference<?> dead = QUEUE.poll();
        return dead == null && laterBytes != 0 ? nextOfLater() : dead;
    }

    /** Null if there is none, or more are arriving. */
    static Reference<?> nextWhenSettled() {
        if (patience > 0) {
            patience--;
            return null;
        }
        Reference<?> dead = next();
        if (dead == null) {
            settled = false;
            pace = LEAST_PACE;
        } else if (!settled || sentinel.refersTo(null)) {
            settle();
        }
        return dead;
    }

    private static void settle() {
        if (sentinel.refersTo(null)) {
            sentinel = new WeakReference<>(new Object());
            pace = settled ? Math.min(FASTEST, 2 * pace) : pace;
        }
        settled = !Native.referencesArriving();
        patience = settled ? 0 : PATIENCE;
        lastTaken = System.nanoTime();
    }

    /** How many to take at a birth: few, but twice as many when a collection finds that not all have been taken. */
    static int pace() {
        long now = System.nanoTime();
        boolean hurried = now - lastTaken < HURRY_NANOS;
        lastTaken = now;
        return hurried ? pace : Integer.MAX_VALUE;
    }

    private static Watch nextOfLater() {
        synchronized (LATER) {
            Watch dead = LATER.poll();
            laterBytes = LATER.isEmpty() ? 0 : laterBytes - Stripe.pressureOf(dead);
            return dead;
        }
    }

    /** One that has been taken from the queue already. */
    static void later(Watch dead) {
        synchronized (LATER) {
            LATER.add(dead);
            laterBytes += Stripe.pressureOf(dead);
        }
    }

    static long laterBytes() {
        return laterBytes;
    }
}
