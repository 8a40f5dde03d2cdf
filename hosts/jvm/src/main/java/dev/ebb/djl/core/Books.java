package dev.ebb.djl.core;

/** Every birth and end goes through here; the stripes carry them to the core. */
final class Books {

    private Books() {}

    static void born(Watch watch, int device) {
        Object handle = watch.handle.get();
        watch.bytes = handle == null ? 0 : watch.adapter.bytes(handle);
        watch.device = device;
        if (Sites.wanted()) {
            watch.site = Sites.here();
        }
        if (LeakWatch.watching()) {
            LeakWatch.born(watch);
        }
        watch.stripe.born(watch);
    }

    static void ended(Watch watch, int reason) {
        watch.clear();
        if (LeakWatch.watching()) {
            LeakWatch.closed(watch);
        }
        watch.stripe.end(watch, reason);
    }

    /** The array has another manager now. */
    static void moved(Watch watch) {
        if (watch.state == Watch.ADOPTED) {
            Native.attach(watch.owner.region(), watch.core);
        }
    }

    static void flush() {
        for (Stripe stripe : Stripe.all()) {
            stripe.flush();
        }
    }

    static long[] read() {
        long[] reading = new long[Native.READING];
        flush();
        Native.safePoint(0, 0);
        Native.memory(reading);
        return reading;
    }
}
