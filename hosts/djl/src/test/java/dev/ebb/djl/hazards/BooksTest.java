package dev.ebb.djl.hazards;

import static dev.ebb.djl.support.Managers.holding;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.support.Fork;
import org.junit.jupiter.api.Test;

/** The bytes that the governor goes by. */
class BooksTest {
    private static final int MILLION = 1 << 20;

    /** A cached shape is that of the array before the call. */
    @Test
    void internBooksTheNewBytes() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray array = manager.ones(new Shape(10));
            array.getShape();
            NDArray large = manager.ones(new Shape(MILLION));
            Memory before = Ebb.memory();
            array.intern(large);
            Memory after = Ebb.memory();
            assertEquals(before.liveBytes() - 40, after.liveBytes());
            assertEquals(before.live() - 1, after.live());
            assertEquals(MILLION, array.toFloatArray().length);
            array.close();
            assertEquals(before.liveBytes() - 40 - 4L * MILLION, Ebb.memory().liveBytes());
            holding(array, large);
        }
    }

    /** What nobody allocated must not drive the collector. */
    @Test
    void aBroadcastArrayCountsTheMemoryBehindIt() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray row = manager.ones(new Shape(1, MILLION));
            Memory before = Ebb.memory();
            NDArray broadcast = row.broadcast(new Shape(MILLION, MILLION));
            assertEquals(4L * MILLION, Ebb.memory().liveBytes() - before.liveBytes());
            broadcast.close();
            assertEquals(before.liveBytes(), Ebb.memory().liveBytes());
            holding(row, broadcast);
        }
    }

    /** Makes and closes far more than the budget; nothing is ever dropped, so there is nothing to collect. */
    public static final class Closing {
        private Closing() {}

        public static void main(String[] arguments) {
            try (NDManager manager = NDManager.newBaseManager()) {
                for (int i = 0; i < 2000; i++) {
                    manager.ones(new Shape(MILLION)).close();
                }
            }
            System.out.println("collections=" + Ebb.memory().collections());
        }
    }

    @Test
    void closedArraysForceNoCollections() throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-Debb.budget=64MB").run(Closing.class);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("collections") <= 1, result.text());
    }
}
