package dev.ebb.djl.core;

/**
 * Births and ends of some threads' arrays on their way to the core's books. Births wait until there are {@link #BATCH}
 * of them, or {@code mostBytes}; an array that ends before is booked with its end in the same call.
 */
final class Stripe {

    static final int BATCH = 256; // kBatch in native/books.cc
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

    private final Watch[] births = new Watch[BATCH];
    private final long[] specs = new long[BATCH * SPEC];
    private final long[] handles = new long[BATCH];
    private final long[][] ends = new long[REASONS][BATCH];
    private final int[] ending = new int[REASONS];
    private int born;
    private long movedBytes; // born and ended since the last flush
    private long net; // of what is alive, adopted or not: bytes, and OVERHEAD each

    /** A flush has happened: the core's safe point should follow where DJL holds no lock. */
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

    static long pressure() {
        long sum = 0;
        for (Stripe stripe : ALL) {
            sum += stripe.net;
        }
        return sum;
    }

    synchronized void born(Watch watch) {
        births[born++] = watch;
        net += watch.bytes + OVERHEAD;
        moved(watch.bytes, born);
    }

    /** Books an end; false if it was booked before. */
    synchronized boolean end(Watch watch, int reason) {
        if (watch.state == Watch.ENDED) {
            return false;
        }
        net -= watch.bytes + OVERHEAD;
        if (watch.state == Watch.PENDING) {
            watch.state = Watch.ENDED;
            watch.ended = (byte) reason;
        } else {
            watch.state = Watch.ENDED;
            ends[reason][ending[reason]++] = watch.core;
            moved(watch.bytes, ending[reason]);
        }
        return true;
    }

    private void moved(long more, int filled) {
        movedBytes += more;
        if (filled == BATCH || movedBytes >= mostBytes) {
            flush();
            due = true;
        }
    }

    synchronized void flush() {
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
        if (born == 0) {
            return;
        }
        for (int i = 0; i < born; i++) {
            Watch watch = births[i];
            specs[i * SPEC] = watch.bytes;
            specs[i * SPEC + 1] = watch.owner.region();
            specs[i * SPEC + 2] = ((long) watch.site << 32) | watch.device;
            specs[i * SPEC + 3] = watch.state == Watch.PENDING ? ALIVE : watch.ended;
        }
        Native.adopt(specs, born, handles);
        for (int i = 0; i < born; i++) {
            if (births[i].state == Watch.PENDING) {
                births[i].core = handles[i];
                births[i].state = Watch.ADOPTED;
            }
            births[i] = null;
        }
        born = 0;
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
