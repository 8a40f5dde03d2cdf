package dev.ebb.djl.engines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.loaders.Undeployed;
import dev.ebb.djl.support.Fork;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** XGBoost, whose matrices are booked, and end with their manager or when they are dropped. */
class XgBoostTest {
    private static final int MANY = 200;
    private static final Shape SHAPE = new Shape(10, 10);
    private static final int BYTES = 400;

    private NDManager manager;
    private Memory before;

    @BeforeEach
    void open() {
        assumeTrue(Engine.hasEngine("XGBoost"), "another engine is tested");
        Ebb.reclaim(true);
        manager = Engine.getEngine("XGBoost").newBaseManager();
        manager.create(new float[100], SHAPE).close();
        Ebb.collect();
        before = Ebb.memory();
    }

    @AfterEach
    void close() {
        if (manager != null) {
            manager.close();
            Ebb.audit();
        }
    }

    private void make(NDManager in) {
        for (int i = 0; i < MANY; i++) {
            in.create(new float[100], SHAPE);
        }
    }

    @Test
    void theyAreBookedAndEndWithTheirManager() {
        NDManager sub = manager.newSubManager();
        NDArray held = sub.create(new float[100], SHAPE);
        assertEquals(BYTES, Ebb.memory().liveBytes() - before.liveBytes());
        sub.close();
        assertEquals(1, Ebb.memory().regionEnded() - before.regionEnded());
        assertEquals(before.live(), Ebb.memory().live());
        Reference.reachabilityFence(held);
    }

    @Test
    void droppedOnesComeBack() {
        make(manager);
        Ebb.collect();
        assertTrue(Ebb.memory().live() - before.live() <= 3);
        assertTrue(Ebb.memory().reclaimed() - before.reclaimed() >= MANY - 3);
    }

    @Test
    void aDroppedManagerComesBack() {
        make(manager.newSubManager());
        Ebb.collect();
        Ebb.collect();
        assertTrue(Ebb.memory().live() - before.live() <= 3);
        assertEquals(before.managers(), Ebb.memory().managers());
    }

    /** Drops a manager with what it holds. */
    public static final class Dropping {
        private Dropping() {}

        public static void main(String[] arguments) {
            NDManager dropped = Engine.getEngine("XGBoost").newBaseManager().newSubManager();
            dropped.create(new float[100], SHAPE);
        }
    }

    @Test
    void theirClassLoaderUnloads() throws Exception {
        String program = Dropping.class.getName();
        assertEquals(0, Fork.stock().run(Undeployed.class, program, "rest").number("alive"));
        Fork.Result result = Fork.reclaiming().run(Undeployed.class, program, "ask");
        assertEquals(0, result.number("alive"), result.text());
    }

    @Test
    void whatAModelGivesIsJavasAndCostsNothing() {
        NDArray result = manager.create(ByteBuffer.allocate(BYTES), new Shape(100), ai.djl.ndarray.types.DataType.FLOAT32);
        assertEquals(before.liveBytes(), Ebb.memory().liveBytes());
        assertEquals(100, result.toFloatArray().length);
        result.close();
    }
}
