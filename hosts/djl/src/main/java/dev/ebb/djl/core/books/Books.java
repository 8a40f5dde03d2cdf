package dev.ebb.djl.core.books;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.managers.ManagerMap;
import dev.ebb.djl.core.pressure.Devices;
import dev.ebb.djl.core.watching.ManagerWatch;
import dev.ebb.djl.core.watching.Watch;
import java.util.HashMap;
import java.util.Map;

/** Every birth and end goes through here; the stripes carry them to the core. */
public final class Books {

    private Books() {}

    public static void born(Watch watch, Object array, int device) {
        Object handle = watch.handle();
        watch.bytes = handle == null ? 0 : watch.adapter.bytes(array, handle);
        watch.device = Devices.several() ? Devices.idOf(watch.adapter.deviceOf(array), device) : device;
        int site = Sites.of(watch.bytes);
        if (site != 0) {
            watch.site = site;
        }
        if (LeakWatch.watching()) {
            LeakWatch.born(watch);
        }
        watch.stripe.born(watch);
    }

    /** One that only a manager kept is in no table any more, so that the collector passes it over; clearing it costs a native call. */
    public static void ended(Watch watch, int reason) {
        if (!(watch.owner instanceof ManagerMap)) {
            watch.clear();
        }
        if (LeakWatch.watching()) {
            LeakWatch.closed(watch);
        }
        watch.stripe.end(watch, reason);
    }

    /** The array has another manager now. */
    public static void moved(Watch watch) {
        if (watch.state == Watch.ADOPTED) {
            Native.attach(watch.owner.region(), watch.core);
        }
    }

    public static void flush() {
        for (Stripe stripe : Stripe.all()) {
            stripe.flush();
        }
    }

    /** What is in them, by the names of the columns of {@link dev.ebb.djl.Memory}. The dead that wait count as alive. */
    public static Map<String, Long> read() {
        return read(0);
    }

    /** The same of a device of the core's; 0: of all. */
    public static Map<String, Long> read(int device) {
        flush();
        Map<String, Long> read = new HashMap<>();
        String[] columns = Native.columns();
        long[] values = Native.memory(device);
        for (int i = 0; i < columns.length; i++) {
            read.put(columns[i], values[i]);
        }
        read.put("managers", (long) ManagerWatch.open());
        return read;
    }
}
