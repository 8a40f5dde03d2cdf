package dev.ebb.spark;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When what ended tasks have left open is looked at: that takes a collection of the JVM's. At the end of a task that left much
 * (an eighth of a slot's share of the budget), or the first after a while; always so that collecting takes a twentieth of the
 * time at most. Tasks that end meanwhile wait for the next one's end, or, where no task comes, for the reporter.
 */
final class Review {

    private static final Logger LOG = LoggerFactory.getLogger(Review.class);
    private static final long REST = 19; // times what the last one took
    private static final long A_WHILE = TimeUnit.SECONDS.toNanos(5);
    private static final long EACH = 512; // beside an array's data
    private static final int SHARE = 8;
    private static final int MOST_LINES = 1000;

    private final EbbAgent agent;
    private final ExecutorBudget budget;
    private final Driver driver;
    private final PluginContext context;
    private final Tracing tracing;
    private final ReentrantLock reviewing = new ReentrantLock();
    private final AtomicLong left = new AtomicLong();
    private final AtomicInteger running = new AtomicInteger();
    private final Set<String> seen = new HashSet<>(); // lines that have kept something before
    private volatile long lastEnd = System.nanoTime();
    private volatile long lastCost;

    Review(EbbAgent agent, ExecutorBudget budget, Driver driver, PluginContext context, Tracing tracing) {
        this.agent = agent;
        this.budget = budget;
        this.driver = driver;
        this.context = context;
        this.tracing = tracing;
    }

    void begun() {
        running.incrementAndGet();
    }

    /** A task has ended, on this thread. */
    void ended(Map<String, Long> counts) {
        running.decrementAndGet();
        if (counts.get("open") != 0) {
            left.addAndGet(counts.get("openBytes") + EACH * counts.get("open"));
        }
        if (left.get() != 0 && isDue() && reviewing.tryLock()) {
            try {
                reviewNow();
            } finally {
                reviewing.unlock();
            }
        }
    }

    private boolean isDue() {
        long rested = System.nanoTime() - lastEnd;
        boolean much = left.get() >= budget.slotBytes() / SHARE;
        return rested >= REST * lastCost && (much || rested >= A_WHILE);
    }

    /** Where no task's end may come for long. */
    void whenIdle(boolean now) {
        boolean waits = agent.tasksToReview() && (now || running.get() == 0 || System.nanoTime() - lastEnd >= A_WHILE);
        if (waits && reviewing.tryLock()) {
            try {
                reviewNow();
            } finally {
                reviewing.unlock();
            }
        }
    }

    private void reviewNow() {
        long start = System.nanoTime();
        left.set(0);
        List<Map<String, Object>> kept = agent.reviewTasks();
        lastEnd = System.nanoTime();
        lastCost = lastEnd - start;
        kept.forEach(this::name);
    }

    /** Once may be a cache that is being filled; the same lines again are a leak. */
    private void name(Map<String, Object> task) {
        Map<?, ?> lines = (Map<?, ?>) task.get("lines");
        String said = "[ebb] " + task.get("name") + " has ended, and something still reaches what it made:" + show(lines);
        if (lines.containsKey("")) {
            tracing.suspect();
        }
        if (addSeen(lines)) {
            LOG.info(said);
        } else {
            LOG.warn(said + "\n  (as of other tasks before)");
        }
        driver.tell(Messages.kept(context, task));
    }

    private boolean addSeen(Map<?, ?> lines) {
        boolean fresh = false;
        for (Object line : lines.keySet()) {
            fresh |= seen.size() < MOST_LINES && seen.add((String) line);
        }
        return fresh;
    }

    static String show(Map<?, ?> lines) {
        StringBuilder text = new StringBuilder();
        lines.forEach(
                (line, sum) -> {
                    String where = line.equals("") ? "a line that was not traced (spark.ebb.trace)" : (String) line;
                    long[] counted = (long[]) sum;
                    text.append("\n  ").append(counted[0]).append(" array(s), ").append(Sizes.show(counted[1]));
                    text.append(", made at ").append(where.replace("\n", "\n      "));
                });
        return text.toString();
    }
}
