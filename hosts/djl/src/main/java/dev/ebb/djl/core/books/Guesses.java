package dev.ebb.djl.core.books;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;

/**
 * Where a thread's arrays come from, mostly without a look at its stack, which costs as much as a small operation. Programs
 * go round: an array of the same size after the same place comes from where it came last time. That is taken for granted,
 * and looked at all the same at the 2nd, 4th, 8th, ... time and then at about every 64th. A guess that was wrong once is not
 * made again.
 */
final class Guesses {

    private static final int MOST = 1024; // a power of two; where two meet, the older is forgotten
    private static final int FARTHEST = 64;
    private static final int WRONG = -1;

    private final Guess[] guesses = new Guess[MOST];
    private int last; // the place of the array before

    private static final class Guess {
        final int after;
        final long bytes;
        int site;
        int distance = 1; // from one look to the next
        int left;

        Guess(int after, long bytes, int site) {
            this.after = after;
            this.bytes = bytes;
            this.site = site;
        }

        void saw(int seen) {
            if (seen != site || distance == WRONG) {
                distance = WRONG;
                left = 0;
            } else {
                distance = Math.min(2 * distance, FARTHEST);
                // Not the same each time, or a program that goes round in 64 would be seen at one place only.
                left = distance < 8 ? distance - 1 : distance / 2 + ThreadLocalRandom.current().nextInt(distance);
            }
        }
    }

    /** Of an array of so many bytes, where every array's is asked for. */
    int afterLast(long bytes, IntSupplier look) {
        return last = of(last, bytes, look);
    }

    /** The same where only some are. */
    int any(long bytes, IntSupplier look) {
        return of(WRONG, bytes, look);
    }

    private int of(int after, long bytes, IntSupplier look) {
        int at = (int) (((after * 0x9E3779B97F4A7C15L) ^ (bytes * 0xD6E8FEB86659FD93L)) >>> 40) & (MOST - 1);
        Guess known = guesses[at];
        if (known != null && known.after == after && known.bytes == bytes) {
            if (--known.left >= 0) {
                return known.site;
            }
            int site = look.getAsInt();
            known.saw(site);
            return site;
        }
        int site = look.getAsInt();
        guesses[at] = new Guess(after, bytes, site);
        return site;
    }
}
