package dev.ebb.djl.core;

/**
 * When to ask for a collection. Near the budget the core's governor does. Far from it this does: once live bytes have
 * grown by a step since they were last seen low, a collection that is rationed to its share of the time.
 */
final class Pressure {

    private static final long LEAST_STEP = 32L << 20;
    private static volatile long low;

    private Pressure() {}

    static void check(int device) {
        if (!Reclaimer.on()) {
            return;
        }
        Reclaimer.collecting(() -> Native.safePoint(device, 0));
        long live = Stripe.liveBytes();
        if (live < low) {
            low = live;
        } else if (live - low > Math.max(LEAST_STEP, low / 2)) {
            Reclaimer.collecting(() -> Native.collect(true));
            long left = Stripe.liveBytes();
            if (left < live) {
                low = left;
            }
        }
    }
}
