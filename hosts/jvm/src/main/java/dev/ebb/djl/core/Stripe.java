package dev.ebb.djl.core;

import java.util.Arrays;

/**
 * Births and ends of some threads' arrays on their way to the core's books. Births wait until there are {@link #PENDING}
 * of them, or {@code mostBytes}; of an array that ends before, birth and end are booked together: most of a loop's
 * arrays, which then cost the core least.
 */
final class Stripe {

    static final int BATCH = 256; // kBatch in native/books.cc
    static final int PENDING = 1 << 14;
    static final int DISPOSED = 0;
    static final int REGION = 1;
    static final int RECLAIMED = 2;
    static final int REASONS = 3;

    /** What an engine needs for an array beside its data: a guess, for pressure only. */
    private static final int OVERHEAD = 512;

    private static final int ALIVE = -1;
    private static final int SPEC = 4;
    private static final int COUNT = 16;
    private static final Stripe[] ALL = new Stripe[COUNT];
    private static volatile long mostBytes = 8L << 20;

    static {
        for (int i = 0; i < COUNT; i++) {
            ALL[i] = new Stripe();
        }
    }

    private Watch[] births = new Watch[BATCH];
    private final long[] specs = new long[BATCH * SPEC];
    private final long[] gone = new long[BATCH * SPEC]; // specs of those that ended before they were booked
    private final long[] handles = new long[BATCH];
    private final long[][] ends = new long[REASONS][BATCH];
    private final int[] ending = new int[REASONS];
    private int born;
    private int going;
    private int sinceDue;
    private long movedBytes; // born and ended since the last flush
    private long net; // of what is alive, adopted or not: bytes, and OVERHEAD each

    /** A batch was born, or a flush has happened: the core's safe point should follow where DJL holds no lock. */
    volatile boolean due;

    static Stripe ofThisThread() {
        return ALL[(int) Thread.currentThread().getId() & (COUNT - 1)];
    }

    static Stripe[] all() {
        return ALL;
    }

    /** Bytes that may be born, or end, before the core hears of them. */
    static void limit(long bytes) {
        mostBytes = Math.max(1 << 16, Math.min(8L << 20, bytes));
    }

    static long pressureOf(Watch watch) {
        return watch.bytes + OVERHEAD;
    }

    /** Of what is alive, as far as anybody knows. */
    static long pressure() {
        long sum = 0;
        for (Stripe stripe : ALL) {
            sum += stripe.net;
        }
        return sum;
    }

    synchronized void born(Watch watch) {
        if (watch.state == Watch.ENDED) {
            bookGone(watch, (int) (Watch.ENDED_UNBORN - watch.core));
            return;
        }
        if (born == births.length) {
            births = Arrays.copyOf(births, 2 * born);
        }
        watch.core = born;
        births[born++] = watch;
        net += pressureOf(watch);
        if (++sinceDue == BATCH) {
            sinceDue = 0;
            due = true;
        }
        moved(watch.bytes, born == PENDING);
    }

    /** Books an end; false if it was booked before. */
    synchronized boolean end(Watch watch, int reason) {
        if (watch.state == Watch.ENDED) {
            return false;
        }
        boolean adopted = watch.state == Watch.ADOPTED;
        watch.state = Watch.ENDED;
        if (!adopted && watch.core < 0) { // closed by another thread before it could be booked
            watch.core = Watch.ENDED_UNBORN - reason;
            return true;
        }
        net -= pressureOf(watch);
        if (adopted) {
            ends[reason][ending[reason]++] = watch.core;
            moved(watch.bytes, ending[reason] == BATCH);
        } else {
            strike((int) watch.core);
            bookGone(watch, reason);
        }
        return true;
    }

    /** The last of the births takes the place of one that has ended. */
    private void strike(int place) {
        Watch last = births[--born];
        births[place] = last;
        last.core = place;
        births[born] = null;
    }

    private void bookGone(Watch watch, int reason) {
        specify(watch, reason, gone, going++);
        if (going == BATCH) {
            bookGone();
        }
    }

    private void bookGone() {
        if (going != 0) {
            Native.adopt(gone, going, handles);
        }
        going = 0;
    }

    private static void specify(Watch watch, int how, long[] specs, int place) {
        specs[place * SPEC] = watch.bytes;
        specs[place * SPEC + 1] = watch.owner.region();
        specs[place * SPEC + 2] = ((long) watch.site << 32) | watch.device;
        specs[place * SPEC + 3] = how;
    }

    private void moved(long more, boolean full) {
        movedBytes += more;
        if (full || movedBytes >= mostBytes) {
            flush();
            due = true;
        }
    }

    synchronized void flush() {
        bookGone();
        adopt();
        if (ending[DISPOSED] != 0) {
            Native.dispose(ends[DISPOSED], ending[DISPOSED]);
        }
        if (ending[REGION] != 0) {
            Native.endWithRegion(ends[REGION], ending[REGION]);
        }
        ending[DISPOSED] = 0;
        ending[REGION] = 0;
        giveNotice();
        movedBytes = 0;
    }

    /** What the core allows inside a collection: only death notices. */
    synchronized void giveNotice() {
        if (ending[RECLAIMED] != 0) {
            Native.orphan(ends[RECLAIMED], ending[RECLAIMED]);
        }
        ending[RECLAIMED] = 0;
    }

    private void adopt() {
        for (int from = 0; from < born; from += BATCH) {
            adopt(from, Math.min(BATCH, born - from));
        }
        born = 0;
    }

    private void adopt(int from, int count) {
        for (int i = 0; i < count; i++) {
            specify(births[from + i], ALIVE, specs, i);
        }
        Native.adopt(specs, count, handles);
        for (int i = 0; i < count; i++) {
            births[from + i].core = handles[i];
            births[from + i].state = Watch.ADOPTED;
            births[from + i] = null;
        }
    }

    /** The core's name of an array, which may have to be booked for that; 0 if it has ended. */
    synchronized long coreOf(Watch watch) {
        if (watch.state == Watch.PENDING) {
            flush();
        }
        return watch.state == Watch.ADOPTED ? watch.core : 0;
    }

    /** The bytes behind the array changed. */
    synchronized void rebook(Watch watch, long now) {
        if (watch.state == Watch.ENDED || watch.bytes == now) {
            return;
        }
        net += now - watch.bytes;
        watch.bytes = now;
        if (watch.state == Watch.ADOPTED) {
            Native.rebook(watch.core, now);
        }
    }
}
