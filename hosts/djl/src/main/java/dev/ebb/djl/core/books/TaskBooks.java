package dev.ebb.djl.core.books;

import dev.ebb.djl.core.watching.Reclaimer;
import dev.ebb.djl.core.watching.Watch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * What became of the arrays that one task made: a thread, and the threads that it starts, from the task's beginning to its
 * end. An array's watch knows the books of its task, which count; nothing is kept for each array. Who still holds something
 * after the end is found by one walk over the living, when a collection has shown that they are reachable.
 */
public final class TaskBooks {

    private static final InheritableThreadLocal<TaskBooks> HERE = new InheritableThreadLocal<>();
    private static final AtomicInteger OPEN = new AtomicInteger();

    /** Ended, with arrays that had not ended by then. Those that hold nothing any more leave, also if nobody asks. */
    private static final ConcurrentLinkedQueue<TaskBooks> TO_REVIEW = new ConcurrentLinkedQueue<>();

    private static final int FEW = 1024;
    private static int untilPruned = FEW;

    private static final ConcurrentHashMap<Integer, LongAdder[]> RECLAIMED = new ConcurrentHashMap<>();

    private final String name;
    private final TaskBooks outer;
    private final AtomicLong made = new AtomicLong();
    private final AtomicLong madeBytes = new AtomicLong();
    private final AtomicLong closed = new AtomicLong();
    private final AtomicLong closedBytes = new AtomicLong();
    private final AtomicLong reclaimed = new AtomicLong();
    private final AtomicLong reclaimedBytes = new AtomicLong();
    private volatile boolean open = true;

    private TaskBooks(String name, TaskBooks outer) {
        this.name = name;
        this.outer = outer;
    }

    public static TaskBooks begin(String name) {
        TaskBooks task = new TaskBooks(name, here());
        HERE.set(task);
        OPEN.incrementAndGet();
        return task;
    }

    /** The task that this thread works for; null if there is none. A thread of a pool may remember one that has ended. */
    static TaskBooks here() {
        TaskBooks task = OPEN.get() == 0 ? null : HERE.get();
        return task == null || task.open ? task : null;
    }

    // ---- under the lock of the watch's stripe

    void born(Watch watch) {
        made.incrementAndGet();
        madeBytes.addAndGet(watch.bytes);
    }

    void changed(long more) {
        madeBytes.addAndGet(more);
    }

    void ended(Watch watch, int reason) {
        boolean byEbb = reason == Stripe.RECLAIMED;
        if (byEbb) {
            noteReclaimed(watch);
        }
        (byEbb ? reclaimed : closed).incrementAndGet();
        (byEbb ? reclaimedBytes : closedBytes).addAndGet(watch.bytes);
    }

    private static void noteReclaimed(Watch watch) {
        LongAdder[] sum = RECLAIMED.computeIfAbsent(watch.site, site -> new LongAdder[] {new LongAdder(), new LongAdder()});
        sum[0].increment();
        sum[1].add(watch.bytes);
    }

    /** Of what tasks made and dropped: arrays and bytes by creation site. */
    public static Map<String, long[]> reclaimedBySite() {
        Map<String, long[]> bySite = new HashMap<>();
        RECLAIMED.forEach((site, sum) -> bySite.put(Sites.textOf(site), new long[] {sum[0].sum(), sum[1].sum()}));
        return bySite;
    }

    // ---- the end

    /** Counts so far: {@code made = closed + reclaimed + open}, and the bytes of each. Ends the task if that is asked. */
    public synchronized Map<String, Long> counts(boolean end) {
        Map<String, Long> counts = read();
        if (end && open) {
            open = false;
            OPEN.decrementAndGet();
            if (HERE.get() == this) {
                HERE.set(outer);
            }
            if (counts.get("open") != 0) {
                TO_REVIEW.add(this);
                prune();
            }
        }
        return counts;
    }

    private static void prune() {
        synchronized (TO_REVIEW) {
            if (--untilPruned == 0) {
                TO_REVIEW.removeIf(task -> !task.holds());
                untilPruned = Math.max(FEW, TO_REVIEW.size());
            }
        }
    }

    /** Tasks that wait to be reviewed, for tests. */
    public static int waiting() {
        return TO_REVIEW.size();
    }

    private Map<String, Long> read() {
        Map<String, Long> counts = new HashMap<>();
        counts.put("closed", closed.get());
        counts.put("closedBytes", closedBytes.get());
        counts.put("reclaimed", reclaimed.get());
        counts.put("reclaimedBytes", reclaimedBytes.get());
        counts.put("made", made.get());
        counts.put("madeBytes", madeBytes.get());
        counts.put("open", counts.get("made") - counts.get("closed") - counts.get("reclaimed"));
        counts.put(
                "openBytes", counts.get("madeBytes") - counts.get("closedBytes") - counts.get("reclaimedBytes"));
        return counts;
    }

    private boolean holds() {
        return made.get() != closed.get() + reclaimed.get();
    }

    /** Gives back what ended tasks have dropped, by a collection; what is left something reaches: one entry a task. */
    public static List<Map<String, Object>> review() {
        Map<TaskBooks, Map<String, long[]>> keeping = new IdentityHashMap<>();
        for (TaskBooks task; (task = TO_REVIEW.poll()) != null; ) {
            keeping.put(task, new HashMap<>());
        }
        if (keeping.isEmpty()) {
            return List.of();
        }
        Reclaimer.collectOnce();
        if (keeping.keySet().stream().anyMatch(TaskBooks::holds)) {
            Reclaimer.collectOnce(); // what only the first one made unreachable
        }
        Books.flush();
        Adopted.forEach(watch -> note(watch, keeping));
        List<Map<String, Object>> kept = new ArrayList<>();
        keeping.forEach(
                (task, lines) -> {
                    if (!lines.isEmpty()) {
                        kept.add(Map.of("name", task.name, "lines", lines));
                    }
                });
        return kept;
    }

    /** Under the lock of the table. What the program has dropped and reclaim, being off, has not ended is not kept. */
    private static void note(Watch watch, Map<TaskBooks, Map<String, long[]>> keeping) {
        Map<String, long[]> lines = watch.task == null ? null : keeping.get(watch.task);
        if (lines != null && !watch.refersTo(null) && !watch.closed()) {
            long[] sum = lines.computeIfAbsent(Sites.textOf(watch.site), site -> new long[2]);
            sum[0]++;
            sum[1] += watch.bytes;
        }
    }

    /** Whether a task has ended and left something that nobody has asked about yet. */
    public static boolean toReview() {
        return !TO_REVIEW.isEmpty();
    }
}
