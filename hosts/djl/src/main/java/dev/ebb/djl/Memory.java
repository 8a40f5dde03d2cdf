package dev.ebb.djl;

import java.lang.reflect.RecordComponent;
import java.util.Map;

/**
 * The books: arrays and their bytes by what became of them. {@code created = live + disposed + regionEnded + reclaimed +
 * shutdown}, for arrays and for bytes.
 *
 * @param created arrays made since Ebb is there
 * @param live not ended yet
 * @param disposed closed by the program
 * @param regionEnded ended when their manager closed
 * @param reclaimed given back by Ebb after the program had dropped them
 * @param shutdown ended with the process
 * @param orphans live, but dropped by the program: they wait because reclaim is off
 * @param managers open managers, those of the engines not counted
 * @param collections collections that Ebb asked for
 * @param collectNanos what they took
 * @param longestCollectNanos the longest of them
 */
public record Memory(
        long created,
        long live,
        long disposed,
        long regionEnded,
        long reclaimed,
        long shutdown,
        long orphans,
        long createdBytes,
        long liveBytes,
        long disposedBytes,
        long regionEndedBytes,
        long reclaimedBytes,
        long shutdownBytes,
        long peakLive,
        long peakLiveBytes,
        long managers,
        long collections,
        long collectNanos,
        long longestCollectNanos) {

    /** From the values by these names; all are 0 where Ebb does not work. */
    static Memory of(Map<String, Long> values) {
        RecordComponent[] columns = Memory.class.getRecordComponents();
        Class<?>[] types = new Class<?>[columns.length];
        Object[] given = new Object[columns.length];
        for (int i = 0; i < columns.length; i++) {
            types[i] = long.class;
            given[i] = values.isEmpty() ? Long.valueOf(0) : values.get(columns[i].getName());
        }
        try {
            return Memory.class.getDeclaredConstructor(types).newInstance(given);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
