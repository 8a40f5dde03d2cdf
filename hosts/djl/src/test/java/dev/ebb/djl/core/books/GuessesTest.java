package dev.ebb.djl.core.books;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How often the stack is looked at, and how many arrays are put down to a place that did not make them. */
@Tag("once")
class GuessesTest {
    private static final int ARRAYS = 100_000;

    private int looks;
    private int wrong;

    /** Arrays of one size, made where {@code places} says. */
    private void play(IntUnaryOperator places) {
        play(places, i -> 4);
    }

    private void play(IntUnaryOperator places, IntUnaryOperator sizes) {
        Guesses guesses = new Guesses();
        looks = wrong = 0;
        for (int i = 0; i < ARRAYS; i++) {
            int place = places.applyAsInt(i);
            guesses.born(sizes.applyAsInt(i));
            int said =
                    guesses.any(
                            () -> {
                                looks++;
                                return place;
                            });
            wrong += said == place ? 0 : 1;
        }
    }

    @Test
    void onePlaceIsSeldomLookedAt() {
        play(i -> 1);
        assertEquals(0, wrong);
        assertTrue(looks < ARRAYS / 40 && looks > ARRAYS / 120, looks + " looks");
    }

    @Test
    void placesThatTakeLongTurnsAreGuessedAgain() {
        play(i -> 1 + i / 2000 % 2);
        assertTrue(looks < ARRAYS / 6, looks + " looks");
        assertTrue(wrong < ARRAYS / 64, wrong + " wrong");
    }

    /** A step of ten arrays: of one size from two places, of another from one. */
    @Test
    void sizesBeforeTellPlacesApart() {
        play(i -> i % 10, i -> i % 10 == 4 || i % 10 == 7 ? 4 : 8 + i % 10);
        assertEquals(0, wrong);
        assertTrue(looks < ARRAYS / 40, looks + " looks");
    }

    @Test
    void placesInShortTurnsAreLookedAt() {
        for (int turn : new int[] {1, 3, 10, 20, 50, 100}) {
            play(i -> 1 + i / turn % 2);
            assertTrue(wrong < ARRAYS / 50, turn + ": " + wrong + " wrong");
        }
    }

    @Test
    void placesThatComeAtRandomAreLookedAt() {
        for (int percent : new int[] {50, 10, 1}) {
            Random random = new Random(7);
            play(i -> random.nextInt(100) < percent ? 2 : 1);
            assertTrue(wrong < ARRAYS / 50, percent + "%: " + wrong + " wrong");
        }
    }

    @Test
    void aSampleIsAsLargeAsItsChance() {
        Sampling sampling = new Sampling();
        int taken = 0;
        for (int i = 0; i < 1_000_000; i++) {
            taken += sampling.wants(4096) ? 1 : 0;
        }
        double chance = -Math.expm1(-(4096 + 1024.0) / Sampling.MEAN);
        assertEquals(1_000_000 * chance, taken, 600); // six times what chance alone makes of it
        assertTrue(sampling.wants(Sampling.MEAN));
    }
}
