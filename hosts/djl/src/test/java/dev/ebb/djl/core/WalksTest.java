package dev.ebb.djl.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A walk over an array counts 250 ns, a collection here as much as 20,000 arrays. */
@Tag("once")
class WalksTest {
    private static final long COST = 20_000 * 250;
    private static final int FEW = 10;
    private static final int MANY = 30_000;

    private final Walks walks = new Walks();

    @BeforeEach
    void visitFew() {
        walks.visited(FEW);
        assertFalse(walks.due(COST));
    }

    @Test
    void manyThatMayBeDeadMakeACollectionDue() {
        walks.visited(MANY / 2);
        assertFalse(walks.due(COST));
        walks.visited(MANY / 2);
        assertTrue(walks.due(COST));
        walks.visited(FEW);
        assertFalse(walks.due(COST));
    }

    /** They might have been dead from the first walk on. */
    @Test
    void walksOverTheSameDoOnce() {
        int collections = 0;
        for (int i = 0; i < 10_000; i++) {
            collections += walks.due(COST) ? 1 : 0;
            walks.visited(FEW);
        }
        assertEquals(1, collections);
    }

    @Test
    void aCollectionThatFoundNothingMakesItWaitLonger() {
        walks.visited(MANY);
        assertTrue(walks.due(COST));
        walks.visited(MANY);
        walks.visited(2 * MANY);
        assertFalse(walks.due(COST));
        walks.visited(2 * MANY);
        assertTrue(walks.due(COST));
    }
}
