package dev.ebb.djl;

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
        long longestCollectNanos) {}
