package dev.ebb.djl.core.books;

import dev.ebb.djl.core.Native;
import java.util.concurrent.ConcurrentHashMap;

/** The core's regions: one for each label of managers, because the core keeps their names for ever. */
public final class Regions {

    private static final int MOST = 256;
    private static final ConcurrentHashMap<String, Long> BY_LABEL = new ConcurrentHashMap<>();

    private Regions() {}

    public static long of(String label) {
        Long region = BY_LABEL.get(label);
        if (region != null) {
            return region;
        }
        String kept = BY_LABEL.size() < MOST ? label : "manager";
        return BY_LABEL.computeIfAbsent(kept, Native::regionOpen);
    }
}
