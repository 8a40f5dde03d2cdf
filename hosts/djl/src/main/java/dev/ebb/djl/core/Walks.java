package dev.ebb.djl.core;

/**
 * When a walk over a manager's arrays ({@code zeroGradients}) is preceded by a collection: once such walks have spent more
 * time on arrays that may be dead than a collection takes. So collecting never costs more than walking did, however
 * seldom the JVM collects by itself; and a young collection inside a walk keeps, and makes old, all that is walked over.
 * Lossy: two threads that walk at once may count one walk for two.
 */
final class Walks {

    private static final long EACH_NANOS = 250; // what a walk spends on an array that is not in the cache
    private static final int MOST_DOUBT = 64;

    private int fewest; // since the last collection before a walk; until there was one, all may be dead
    private int last;
    private long wasted;
    private boolean collected;
    private int doubt = 1; // grows with collections that found little

    /** Whether to collect now, which takes so long; the walk that follows tells what that gave. */
    boolean due(long cost) {
        collected = wasted > doubt * cost;
        return collected;
    }

    void visited(int count) {
        if (collected) {
            doubt = count < last / 2 ? 1 : Math.min(MOST_DOUBT, 2 * doubt);
            fewest = Integer.MAX_VALUE;
            collected = false;
        }
        last = count;
        if (count < fewest) {
            fewest = count;
            wasted = 0;
        } else {
            wasted += (count - fewest) * EACH_NANOS;
        }
    }
}
