package dev.ebb.djl;

import dev.ebb.djl.core.Control;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What one task makes: this thread, and the threads that it starts, until the region is closed. For servers and executors
 * that run many tasks on their threads and want to know which of them leaves arrays behind.
 *
 * <pre>{@code
 * try (TaskRegion region = TaskRegion.begin("request 17")) {
 *     answer(request);
 *     System.out.println(region.counts());
 * }
 * TaskRegion.stillHeld().forEach(kept -> log(kept.name() + " is still held: " + kept.lines()));
 * }</pre>
 */
public final class TaskRegion implements AutoCloseable {

    private final Function<Boolean, Map<String, Long>> task;

    private TaskRegion(Function<Boolean, Map<String, Long>> task) {
        this.task = task;
    }

    /** Regions may be nested: an array belongs to the innermost. */
    public static TaskRegion begin(String name) {
        return new TaskRegion(Control.current().openTask(name));
    }

    /** What became so far of what was made inside. */
    public Counts counts() {
        return new Counts(task.apply(false));
    }

    /** Ends the region, once. What was made inside and is still open is looked at by {@link #stillHeld}. */
    @Override
    public void close() {
        task.apply(true);
    }

    /**
     * Asks the JVM for a collection, if a region has left something open since the last call, and gives back what was
     * dropped. What is returned is still reachable: handed on, kept in a cache, or leaked.
     */
    public static List<Kept> stillHeld() {
        List<Kept> all = new ArrayList<>();
        for (Map<String, Object> each : Control.current().reviewTasks()) {
            Map<String, long[]> lines = new TreeMap<>();
            ((Map<?, ?>) each.get("lines")).forEach((line, sum) -> lines.put((String) line, (long[]) sum));
            all.add(new Kept((String) each.get("name"), lines));
        }
        return all;
    }

    /** {@code made = closed + reclaimed + open}, in arrays and in bytes. */
    public record Counts(
            long made,
            long madeBytes,
            long closed,
            long closedBytes,
            long reclaimed,
            long reclaimedBytes,
            long open,
            long openBytes) {

        Counts(Map<String, Long> of) {
            this(
                    of.get("made"),
                    of.get("madeBytes"),
                    of.get("closed"),
                    of.get("closedBytes"),
                    of.get("reclaimed"),
                    of.get("reclaimedBytes"),
                    of.get("open"),
                    of.get("openBytes"));
        }
    }

    /**
     * What an ended region left reachable.
     *
     * @param lines arrays and bytes by the creation site; {@code ""} where {@link Ebb#trace} was off
     */
    public record Kept(String name, Map<String, long[]> lines) {
        public long arrays() {
            return lines.values().stream().mapToLong(sum -> sum[0]).sum();
        }

        public long bytes() {
            return lines.values().stream().mapToLong(sum -> sum[1]).sum();
        }
    }
}
