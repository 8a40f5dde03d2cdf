package dev.ebb.djl.core.books;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.watching.Watch;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Births and ends of some threads' arrays on their way to the core's books. Births wait until there are {@link #PENDING}
 * of them, or {@code mostBytes}; of an array that ends before, birth and end are booked together: most of a loop's
 * arrays, which then cost the core least.
 */
public final class Stripe {

    static final int BATCH = 256; // kBatch in native/books.cc
    static final int PENDING = 1 << 14;
    public static final int DISPOSED = 0;
    public static final int REGION = 1;
    public static final int RECLAIMED = 2;
    static final int REASONS = 3;

    private static final int SPEC = 4;
    private static final int COUNT = 16;
    private static final Stripe[] ALL = new Stripe[COUNT];
    private static final long LEAST_BYTES = 1 << 14;
    private static final AtomicInteger IN_USE = new AtomicInteger();
    private static volatile boolean noticed; // by the core, which has not been asked to end them yet
    private static volatile long allBytes = Long.MAX_VALUE;
    private static volatile long mostBytes = 8L << 20;

    static {
        for (int i = 0; i < COUNT; i++) {
            ALL[i] = new Stripe();
        }
    }

    private Watch[] births = new Watch[BATCH];
    private final long[] specs = new long[BATCH * SPEC];
    private long[] gone = new long[BATCH * SPEC]; // specs of those that ended before they were booked
    private final long[] handles = new long[BATCH];
    private final long[][] ends = new long[REASONS][BATCH]; // the reclaimed: of which the core gets notice
    private final int[] ending = new int[REASONS];
    private boolean used;
    private int born;
    private int going;
    private int sinceDue;
    private long movedBytes; // born and ended since the last flush

    /** A batch was born, or a flush has happened: the core's safe point should follow where DJL holds no lock. */
    public volatile boolean due;

    public static Stripe ofThisThread() {
        return ALL[(int) Thread.currentThread().getId() & (COUNT - 1)];
    }

    static Stripe[] all() {
        return ALL;
    }

    /** Bytes that may be born, or end, before the core hears of them: in all stripes that are in use together. */
    public static void limit(long bytes) {
        allBytes = bytes;
        share();
    }

    private static void share() {
        mostBytes = Math.max(LEAST_BYTES, Math.min(8L << 20, allBytes / Math.max(1, IN_USE.get())));
    }

    synchronized void born(Watch watch) {
        if (watch.state == Watch.ENDED) {
            bookGone(watch, (int) (Watch.ENDED_UNBORN - watch.core));
            return;
        }
        if (born == births.length) {
            births = Arrays.copyOf(births, 2 * born);
        }
        if (!used) {
            used = true;
            IN_USE.incrementAndGet();
            share();
        }
        watch.core = born;
        births[born++] = watch;
        watch.task = TaskBooks.here();
        if (watch.task != null) {
            watch.task.born(watch);
        }
        if (++sinceDue == BATCH) {
            sinceDue = 0;
            due = true;
        }
        moved(watch.bytes, born == PENDING);
    }

    /** The program has dropped it: the core is to end it, and has to know it for that. */
    public synchronized void dropped(Watch dead) {
        if (dead.state == Watch.PENDING) {
            flush();
        }
        if (dead.state == Watch.ADOPTED) {
            addNotice(dead);
        }
    }

    private void addNotice(Watch dead) {
        add(dead.core, RECLAIMED);
        if (ending[RECLAIMED] >= BATCH) {
            giveNotice();
        }
    }

    /** To those that the core has to hear of. There is room: what could not be passed on waits for the next time. */
    private void add(long handle, int reason) {
        if (ending[reason] == ends[reason].length) {
            ends[reason] = Arrays.copyOf(ends[reason], 2 * ending[reason]);
        }
        ends[reason][ending[reason]++] = handle;
    }

    /** The core has ended it; false if somebody else had. */
    public synchronized boolean reclaimed(Watch dead) {
        boolean first = dead.state == Watch.ADOPTED;
        if (first) {
            dead.state = Watch.ENDED;
            bookWithTask(dead, RECLAIMED);
        }
        return first;
    }

    public synchronized boolean hasEnded(Watch watch) {
        return watch.state == Watch.ENDED;
    }

    /** Books an end that is the host's own. */
    public synchronized void end(Watch watch, int reason) {
        if (watch.state == Watch.ENDED) {
            return;
        }
        boolean adopted = watch.state == Watch.ADOPTED;
        watch.state = Watch.ENDED;
        if (!adopted && watch.core < 0) { // closed by another thread before it could be booked
            watch.core = Watch.ENDED_UNBORN - reason;
            return;
        }
        bookWithTask(watch, reason);
        if (adopted) {
            Adopted.remove(watch);
        }
        if (adopted && reason == RECLAIMED) {
            addNotice(watch); // freed just before it was booked: the core finds nothing to delete
        } else if (adopted) {
            add(watch.core, reason);
            moved(watch.bytes, ending[reason] >= BATCH);
        } else {
            strike((int) watch.core);
            bookGone(watch, reason);
        }
    }

    private static void bookWithTask(Watch ended, int reason) {
        if (ended.task != null) {
            ended.task.ended(ended, reason);
        }
    }

    /** The last of the births takes the place of one that has ended. */
    private void strike(int place) {
        Watch last = births[--born];
        births[place] = last;
        last.core = place;
        births[born] = null;
    }

    /** By the next flush: inside a collection that the core asked for nothing may be booked. */
    private void bookGone(Watch watch, int reason) {
        if (going * SPEC == gone.length) {
            gone = Arrays.copyOf(gone, 2 * gone.length);
        }
        specify(watch, -1 - reason, gone, going++);
        if (going % BATCH == 0) {
            due = true;
        }
    }

    /** At a safe point: of a loop whose arrays all end early there is nothing else to book. */
    public synchronized void flushGone() {
        if (going >= BATCH) {
            bookGone();
        }
    }

    private void bookGone() {
        for (int count; going > 0; going -= count) {
            count = Math.min(BATCH, going);
            System.arraycopy(gone, (going - count) * SPEC, specs, 0, count * SPEC);
            Native.adopt(specs, count, handles);
        }
    }

    /** {@code how}: its tag, or what says that it has ended, as native/books.cc has it. */
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

    /** Each batch that the core has heard of is gone from here, so that one that fails is tried again with the next flush. */
    synchronized void flush() {
        bookGone();
        adopt();
        for (int reason = DISPOSED; reason <= REGION; reason++) {
            for (int count; ending[reason] > 0; ending[reason] -= count) {
                count = takeLast(reason);
                Native.end(handles, count, reason);
            }
        }
        giveNotice();
        movedBytes = 0;
    }

    /** Copies the last of what ended to {@code handles}; how many. */
    private int takeLast(int reason) {
        int count = Math.min(BATCH, ending[reason]);
        System.arraycopy(ends[reason], ending[reason] - count, handles, 0, count);
        return count;
    }

    /** What the core allows inside a collection: only death notices. */
    private synchronized void giveNotice() {
        for (int count; ending[RECLAIMED] > 0; ending[RECLAIMED] -= count) {
            count = takeLast(RECLAIMED);
            Native.orphan(handles, count);
            noticed = true;
        }
    }

    /** All that there are. Whether the core has any that it has not been asked to end yet. */
    public static boolean giveNotices() {
        for (Stripe stripe : ALL) {
            if (stripe.ending[RECLAIMED] != 0) {
                stripe.giveNotice();
            }
        }
        if (!noticed) {
            return false;
        }
        noticed = false;
        return true;
    }

    private void adopt() {
        for (int count; born > 0; born -= count) {
            count = Math.min(BATCH, born);
            adopt(born - count, count);
        }
    }

    private void adopt(int from, int count) {
        Adopted.add(births, from, count);
        for (int i = 0; i < count; i++) {
            specify(births[from + i], births[from + i].tag, specs, i);
        }
        boolean booked = false;
        try {
            Native.adopt(specs, count, handles);
            booked = true;
        } finally {
            if (!booked) {
                Adopted.remove(births, from, count);
            }
        }
        for (int i = 0; i < count; i++) {
            births[from + i].core = handles[i];
            births[from + i].state = Watch.ADOPTED;
            births[from + i] = null;
        }
    }

    /** The bytes behind the array changed. */
    public synchronized void rebook(Watch watch, long now) {
        if (watch.state == Watch.ENDED || watch.bytes == now) {
            return;
        }
        if (watch.task != null) {
            watch.task.changed(now - watch.bytes);
        }
        watch.bytes = now;
        if (watch.state == Watch.ADOPTED) {
            Native.rebook(watch.core, now);
        }
    }
}
