package dev.ebb.djl.core;

import java.util.HashMap;
import java.util.Map;

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

    /** By the names of the columns of {@link dev.ebb.djl.Memory}. */
    static Map<String, Long> read() {
        flush();
        Native.drain();
        Map<String, Long> read = new HashMap<>();
        String[] columns = Native.columns();
        long[] values = Native.memory();
        for (int i = 0; i < columns.length; i++) {
            read.put(columns[i], values[i]);
        }
        read.put("managers", (long) ManagerWatch.open());
        return read;
    }
}
