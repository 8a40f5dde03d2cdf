package dev.ebb.djl.core.watching;

import static dev.ebb.djl.support.Managers.holding;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.pressure.Collector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The dead that the engine still has memory for: where all of them come back, and how many may wait at most. */
class BacklogTest {
    private static final Shape SMALL = new Shape(1);
    private static final int MANY = 20_000;
    private static final int LOOP = 1_500_000; // stands for 774 MB if nothing comes back
    private static final long MOST = 256L << 20;
    private static final long EACH = 512 + 4;
    private static final long FEW = 5 * EACH; // some may still be on the stack

    private NDManager manager;
    private long before;

    @BeforeEach
    void open() {
        Ebb.reclaim(true);
        Ebb.collect();
        manager = NDManager.newBaseManager();
        before = unfreed();
    }

    @AfterEach
    void close() {
        manager.close();
        Ebb.audit();
    }

    /** Bytes of arrays that have not been freed, 512 more for each, whether alive or dead. */
    private static long unfreed() {
        Map<String, Long> books = Books.read();
        return books.get("liveBytes") + 512 * books.get("live");
    }

    private void makeAndDrop() {
        List<NDArray> held = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            held.add(manager.ones(SMALL));
        }
        holding(held);
    }

    /** They are found dead, and nobody has taken them yet. */
    private void dropAndFind() {
        makeAndDrop();
        Collector.collect();
        assertTrue(unfreed() - before > MANY * EACH / 2, "taken already");
    }

    private void assertAllCameBack() {
        long left = unfreed() - before;
        assertTrue(left <= FEW, () -> left + " bytes left");
    }

    @Test
    void allComeBackAtTheNextAttach() {
        dropAndFind();
        manager.ones(SMALL).close();
        assertAllCameBack();
    }

    @Test
    void allComeBackAtMemory() {
        dropAndFind();
        Ebb.memory();
        assertAllCameBack();
    }

    @Test
    void allComeBackWhenAnyManagerCloses() {
        NDManager other = NDManager.newBaseManager();
        dropAndFind();
        other.close();
        assertAllCameBack();
    }

    @Test
    void inATightLoopFewWait() {
        NDArray array = manager.ones(SMALL);
        long most = 0;
        for (int i = 0; i < LOOP; i++) {
            array.add(array);
            if (i % 1000 == 0) {
                most = Math.max(most, unfreed() - before);
            }
        }
        long seen = most;
        assertTrue(seen < MOST, () -> seen + " bytes waited");
        assertEquals(1f, array.toFloatArray()[0]);
    }
}
