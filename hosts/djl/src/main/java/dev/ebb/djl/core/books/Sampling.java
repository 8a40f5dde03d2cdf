package dev.ebb.djl.core.books;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Which births of a sampled recording are worth a look at the stack, on one thread: docs/recording.md, "Sampling". The core has
 * the same in {@code ebb_record_wants_site}; here it costs no crossing.
 */
final class Sampling {

    /** A place for about each so many bytes, as the core has it where nobody says otherwise. */
    static final long MEAN = 512 << 10;

    private static final long NAME_BYTES = 1024; // what each array counts beside its bytes

    private double left = distance(); // bytes until the next one is taken

    boolean wants(long bytes) {
        if (bytes >= MEAN) {
            return true;
        }
        left -= bytes + NAME_BYTES;
        if (left > 0) {
            return false;
        }
        left = distance();
        return true;
    }

    private static double distance() {
        return -Math.log(1 - ThreadLocalRandom.current().nextDouble()) * MEAN;
    }
}
