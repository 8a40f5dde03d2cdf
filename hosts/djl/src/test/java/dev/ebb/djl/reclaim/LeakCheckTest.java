package dev.ebb.djl.reclaim;

import static dev.ebb.djl.support.Managers.holding;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.LeakCheck;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A leak: made inside, at the end neither closed nor handed out. */
@SuppressWarnings("try") // a check does its work by being closed
class LeakCheckTest {
    private static final Shape SMALL = new Shape(10);

    @BeforeEach
    void on() {
        Ebb.reclaim(true);
    }

    @Test
    void whatIsClosedIsNone() {
        try (NDManager manager = NDManager.newBaseManager();
                LeakCheck check = Ebb.expectNoLeaks()) {
            manager.ones(SMALL).close();
            try (NDManager inner = manager.newSubManager()) {
                inner.ones(SMALL).add(1);
            }
        }
    }

    @Test
    void whatIsHandedOutIsNone() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray result;
            try (LeakCheck check = Ebb.expectNoLeaks()) {
                result = manager.ones(SMALL);
            }
            holding(result);
        }
    }

    @Test
    void whatIsDroppedIsOneAndItsLineIsNamed() {
        try (NDManager manager = NDManager.newBaseManager()) {
            Throwable thrown =
                    assertThrows(
                            Throwable.class,
                            () -> {
                                try (LeakCheck check = Ebb.expectNoLeaks()) {
                                    leak(manager);
                                }
                            });
            assertTrue(thrown.getMessage().contains("LeakCheckTest.java"), thrown.getMessage());
        }
    }

    private static void leak(NDManager manager) {
        manager.ones(SMALL).add(1);
    }

    @Test
    void withReclaimOffToo() {
        Ebb.reclaim(false);
        try (NDManager manager = NDManager.newBaseManager()) {
            assertThrows(
                    Throwable.class,
                    () -> {
                        try (LeakCheck check = Ebb.expectNoLeaks()) {
                            leak(manager);
                        }
                    });
        } finally {
            Ebb.reclaim(true);
        }
    }
}
