package dev.ebb.spark;

import java.util.Arrays;
import org.apache.spark.util.AccumulatorV2;

/**
 * A sum over the partitions of a stage: each counts once, however often its task runs (speculative copies, tasks that are
 * repeated because their executor was lost). At a task it has the value of one partition.
 */
public final class StageSum extends AccumulatorV2<Long, Long> {

    private static final long serialVersionUID = 1L;

    private int partition = -1; // at a task: which one
    private long value;
    private long[] merged = {}; // at the driver: the value of each partition

    /** At a task. */
    void set(int ofPartition, long now) {
        partition = ofPartition;
        value = now;
    }

    @Override
    public boolean isZero() {
        return partition < 0 && merged.length == 0;
    }

    @Override
    public AccumulatorV2<Long, Long> copy() {
        StageSum copy = new StageSum();
        copy.partition = partition;
        copy.value = value;
        copy.merged = merged.clone();
        return copy;
    }

    @Override
    public void reset() {
        partition = -1;
        value = 0;
        merged = new long[0];
    }

    @Override
    public void add(Long more) {
        value += more;
    }

    @Override
    public synchronized void merge(AccumulatorV2<Long, Long> other) {
        StageSum from = (StageSum) other;
        for (int i = 0; i < from.merged.length; i++) {
            put(i, from.merged[i]);
        }
        if (from.partition >= 0) {
            put(from.partition, from.value);
        }
    }

    /** A repeated task made the same again, or less if it was another one's copy: the most is what the stage needed. */
    private void put(int place, long now) {
        if (place >= merged.length) {
            merged = Arrays.copyOf(merged, Math.max(place + 1, 2 * merged.length));
        }
        merged[place] = Math.max(merged[place], now);
    }

    @Override
    public synchronized Long value() {
        return value + Arrays.stream(merged).sum();
    }
}
