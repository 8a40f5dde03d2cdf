package dev.ebb.djl.core;

/**
 * When to ask for a collection. Near the budget the core's governor does. Far from it this does, whenever live bytes have
 * grown by more than a step since they were last seen low.
 *
 * <p>It keeps to a share of the time that rises with the growth, from 5% at one step to about a fifth at two: dropped
 * arrays should not pile up far, and a growing live set should not pay for it. After a collection that found little the
 * share is 5% whatever the growth. With more alive than a budget, the governor's own ration holds for both of them.
 */
final class Pressure {

    private static final long LEAST_STEP = 32L << 20;
    private static final long LEAST_COST = 5_000_000;
    private static final double REST = 19; // times what the last collection took, for a share of 5%

    private static volatile long low;
    private static long lastEnd = System.nanoTime();
    private static long lastCost;
    private static boolean lastPaid = true;

    private Pressure() {}

    static void check(int device) {
        if (!Reclaimer.on()) {
            return;
        }
        Native.safePoint(device, 0);
        long live = Stripe.pressure();
        if (live < low) {
            low = live;
        } else if (live - low > step()) {
            if (live > Devices.leastBudget()) {
                Native.collect(true);
            } else {
                relieve(live);
            }
        }
    }

    private static long step() {
        return Math.max(LEAST_STEP, low / 2);
    }

    private static synchronized void relieve(long live) {
        double growth = (double) (live - low) / step();
        double rest = lastPaid ? REST / (growth * growth) : REST;
        long start = System.nanoTime();
        if (growth <= 1 || start - lastEnd < lastCost * rest) {
            return;
        }
        long most = step();
        collect();
        lastPaid = live - low > most / 2;
    }

    /** Whatever bytes there are. */
    static synchronized void collect() {
        long start = System.nanoTime();
        Native.collect(false);
        lastEnd = System.nanoTime();
        lastCost = lastEnd - start;
        low = Stripe.pressure();
    }

    /** What a collection takes, in nanoseconds. */
    static long cost() {
        return Math.max(LEAST_COST, lastCost);
    }
}
