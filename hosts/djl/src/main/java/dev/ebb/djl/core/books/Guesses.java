package dev.ebb.djl.core.books;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;

/**
 * Where a thread's arrays come from, mostly without a look at its stack, which costs as much as some small operations. Programs
 * go round: an array of the same size, after arrays of the same sizes and after the same place, comes from where it came last
 * time. That is taken for granted, and looked at all the same at the 2nd, 4th, 8th, ... time and then at about every 64th.
 *
 * <p>Where that was wrong once, several places take turns (a method that two others call). Every array is looked at then
 * until eight in a row came from one place; and again at about every 16th. That goes on for as long as at most a 64th of
 * all of them was in doubt, which are those that were guessed before a look that saw another place.
 */
final class Guesses {

    private static final int MOST = 1024; // a power of two; where two meet, the older is forgotten
    private static final int FARTHEST = 64;
    private static final int FARTHEST_IN_TURNS = 16;
    private static final int IN_A_ROW = 8;
    private static final int MOST_IN_DOUBT = 64; // one of so many
    private static final int ANY = -1;

    private final Guess[] guesses = new Guess[MOST];
    private long sizes; // of this array and the three before it, 16 bits of each
    private int last; // the place of the array before

    private static final class Guess {
        final int after;
        final long sizes;
        int site;
        private int inARow; // looks that saw the site
        private boolean takeTurns;
        private int left; // to guess, until the next look
        private int guessed; // since the look before
        private long made = 1;
        private long inDoubt;

        Guess(int after, long sizes, int site) {
            this.after = after;
            this.sizes = sizes;
            this.site = site;
        }

        void saw(int seen) {
            made += guessed + 1;
            if (seen == site) {
                inARow++;
            } else {
                takeTurns = true;
                inDoubt += guessed;
                inARow = 0;
                site = seen;
            }
            left = guessed = distance() - 1;
        }

        /** From this look to the next. Not the same each time, or a program that goes round in 64 would be seen at one place only. */
        private int distance() {
            int farthest = takeTurns ? FARTHEST_IN_TURNS : FARTHEST;
            int looks = takeTurns ? inARow - IN_A_ROW : inARow;
            if (looks < 0 || inDoubt * MOST_IN_DOUBT > made) {
                return 1;
            }
            int usual = Math.min(1 << Math.min(looks, 30), farthest);
            return usual < 8 ? usual : usual / 2 + ThreadLocalRandom.current().nextInt(usual) + 1;
        }
    }

    /** An array of so many bytes is born, whether or not its place is asked for. */
    void born(long bytes) {
        sizes = sizes << 16 | (bytes * 0xD6E8FEB86659FD93L) >>> 48;
    }

    /** The place of the one that was born last, where every array's is asked for. */
    int afterLast(IntSupplier look) {
        return last = of(last, look);
    }

    /** The same where only some are. */
    int any(IntSupplier look) {
        return of(ANY, look);
    }

    private int of(int after, IntSupplier look) {
        int at = (int) (((after ^ sizes) * 0x9E3779B97F4A7C15L) >>> 40) & (MOST - 1);
        Guess known = guesses[at];
        if (known == null || known.after != after || known.sizes != sizes) {
            int site = look.getAsInt();
            guesses[at] = new Guess(after, sizes, site);
            return site;
        }
        if (--known.left >= 0) {
            return known.site;
        }
        int site = look.getAsInt();
        known.saw(site);
        return site;
    }
}
