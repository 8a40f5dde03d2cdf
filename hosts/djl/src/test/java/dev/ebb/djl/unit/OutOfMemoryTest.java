package dev.ebb.djl.unit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import org.junit.jupiter.api.Test;

class OutOfMemoryTest {

    private static final Shape TOO_MUCH = new Shape(1L << 24, 1L << 24);

    @Test
    void theErrorNamesTheSites() {
        Ebb.trace(true);
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray held = manager.ones(new Shape(1000));
            EngineException e = assertThrows(EngineException.class, () -> manager.zeros(TOO_MUCH));
            assertTrue(e.getMessage().contains("[ebb]"), e.getMessage());
            assertTrue(e.getMessage().contains("OutOfMemoryTest.java:"), e.getMessage());
            assertEquals(1000, held.size());
        } finally {
            Ebb.trace(false);
        }
    }

    @Test
    void theLadderRunsFirst() {
        try (NDManager manager = NDManager.newBaseManager()) {
            Ebb.collect();
            long before = Ebb.memory().reclaimed();
            Arrays.drop(manager, 100);
            assertThrows(EngineException.class, () -> manager.zeros(TOO_MUCH));
            assertEquals(100, Ebb.memory().reclaimed() - before);
            Ebb.audit();
        }
    }

    @Test
    void anOperandSurvivesTheSecondTry() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray held = manager.ones(new Shape(10));
            Arrays.drop(manager, 100);
            EngineException e = assertThrows(EngineException.class, () -> held.tile(1L << 50));
            assertTrue(e.getMessage().contains("[ebb] it was tried twice"), e.getMessage());
            assertEquals(10f, Arrays.sum(held));
        }
    }

    /** A second try would draw other numbers. */
    @Test
    void randomNumbersAreNotTriedAgain() {
        try (NDManager manager = NDManager.newBaseManager()) {
            Arrays.drop(manager, 100);
            EngineException e = assertThrows(EngineException.class, () -> manager.randomNormal(TOO_MUCH));
            assertTrue(e.getMessage().contains("[ebb] it is not tried twice"), e.getMessage());
        }
    }

    @Test
    void withoutReclaimTheErrorIsTheEnginesOwn() {
        Ebb.reclaim(false);
        try (NDManager manager = NDManager.newBaseManager()) {
            EngineException e = assertThrows(EngineException.class, () -> manager.zeros(TOO_MUCH));
            assertTrue(!e.getMessage().contains("[ebb]"), e.getMessage());
        } finally {
            Ebb.reclaim(true);
        }
    }
}
