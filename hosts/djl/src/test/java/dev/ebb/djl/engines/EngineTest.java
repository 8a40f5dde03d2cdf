package dev.ebb.djl.engines;

import static dev.ebb.djl.support.Managers.holding;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.support.ForcedCollections;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What Ebb promises of whichever engine is the default one. */
@ExtendWith(ForcedCollections.class)
class EngineTest {
    private static final int MANY = 300;
    private static final int FEW = 5; // some may still be on the stack
    private static final int MEGABYTE = 1 << 20;

    private NDManager manager;
    private Memory before;

    @BeforeEach
    void open() {
        Ebb.reclaim(true);
        Ebb.collect();
        manager = NDManager.newBaseManager(Device.cpu());
        before = Ebb.memory();
    }

    @AfterEach
    void close() {
        manager.close();
        Ebb.audit();
    }

    @Test
    void droppedArraysComeBack() {
        for (int i = 0; i < MANY; i++) {
            manager.create(new float[100]);
        }
        Ebb.collect();
        Memory after = Ebb.memory();
        assertTrue(after.created() - before.created() >= MANY);
        assertTrue(after.live() - before.live() <= FEW, () -> after.live() - before.live() + " live");
        assertTrue(manager.getManagedArrays().size() <= FEW);
    }

    @Test
    void resultsComeBackFromALongerLivedManager() {
        NDArray weight = manager.create(new float[] {1, 2, 3});
        try (NDManager batch = manager.newSubManager()) {
            for (int i = 0; i < MANY; i++) {
                weight.add(batch.create(new float[] {i, i, i}));
            }
        }
        Ebb.collect();
        assertTrue(Ebb.memory().live() - before.live() <= 1 + FEW);
        assertArrayEquals(new float[] {1, 2, 3}, weight.toFloatArray());
    }

    @Test
    void bytesAreBooked() {
        NDArray array = manager.create(new float[MEGABYTE / 4]);
        assertEquals(MEGABYTE, Ebb.memory().liveBytes() - before.liveBytes());
        array.close();
        assertEquals(before.liveBytes(), Ebb.memory().liveBytes());
    }

    @Test
    void closingAndManagersWorkAsBefore() {
        manager.create(new float[] {1}).close();
        NDManager sub = manager.newSubManager();
        NDArray held = sub.create(new float[] {2});
        sub.close();
        Memory after = Ebb.memory();
        assertEquals(1, after.disposed() - before.disposed());
        assertEquals(1, after.regionEnded() - before.regionEnded());
        assertEquals(before.live(), after.live());
        holding(held);
    }

    @Test
    void operandsLiveAsLongAsTheirCalls() {
        for (int i = 0; i < MANY; i++) {
            NDArray sum =
                    manager.create(new float[] {i, 1})
                            .add(manager.create(new float[] {1, i}))
                            .mul(manager.create(new float[] {2, 2}));
            assertArrayEquals(new float[] {2 * i + 2, 2 * i + 2}, sum.toFloatArray());
        }
    }

    @Test
    void whatIsHeldKeepsItsValues() {
        List<NDArray> held = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            held.add(manager.create(new float[] {i}).add(1));
        }
        Ebb.collect();
        for (int i = 0; i < MANY; i++) {
            assertEquals(i + 1, held.get(i).toFloatArray()[0]);
        }
    }

    @Test
    void theBudgetHolds() {
        long budget = Ebb.memory().liveBytes() + 32L * MEGABYTE;
        Ebb.budget(Device.cpu(), budget);
        try {
            NDArray one = manager.create(new Shape(MEGABYTE / 4));
            long most = 0;
            for (int i = 0; i < MANY; i++) {
                one.add(1);
                if (i % 8 == 0) {
                    most = Math.max(most, Ebb.memory().liveBytes());
                }
            }
            long seen = most;
            assertTrue(seen <= budget + budget / 20, () -> seen + " bytes, budget " + budget);
        } finally {
            Ebb.budget(Device.cpu(), "8GB");
        }
    }

    @Test
    void aDroppedManagerComesBackWithWhatItHolds() {
        dropManager();
        Ebb.collect();
        Ebb.collect();
        assertTrue(Ebb.memory().live() - before.live() <= FEW);
        assertEquals(before.managers(), Ebb.memory().managers());
    }

    private void dropManager() {
        NDManager dropped = manager.newSubManager();
        for (int i = 0; i < MANY; i++) {
            dropped.create(new float[] {i});
        }
    }
}
