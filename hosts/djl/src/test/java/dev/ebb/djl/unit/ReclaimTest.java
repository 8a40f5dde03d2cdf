package dev.ebb.djl.unit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.core.EbbRuntime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReclaimTest {

    private NDManager manager;

    @BeforeEach
    void open() {
        Ebb.reclaim(true);
        manager = NDManager.newBaseManager();
    }

    @AfterEach
    void close() {
        manager.close();
        Ebb.reclaim(true);
        Ebb.audit();
    }

    @Test
    void droppedArraysComeBack() {
        Memory m = Arrays.during(() -> Arrays.drop(manager, 100));
        assertEquals(100, m.created());
        assertEquals(100, m.reclaimed());
        assertEquals(400_000, m.reclaimedBytes());
        assertEquals(0, m.live());
        assertTrue(manager.getManagedArrays().isEmpty());
    }

    @Test
    void reachableArraysStay() {
        NDArray kept = manager.ones(new Shape(10));
        Memory m = Arrays.during(() -> Arrays.drop(manager, 10));
        assertEquals(10, m.reclaimed());
        assertEquals(10f, Arrays.sum(kept));
        assertEquals(1, manager.getManagedArrays().size());
    }

    @Test
    void closedArraysAreDisposedOnce() {
        Memory m =
                Arrays.during(
                        () -> {
                            NDArray array = manager.ones(new Shape(10));
                            array.close();
                            array.close();
                        });
        assertEquals(1, m.created());
        assertEquals(1, m.disposed());
        assertEquals(40, m.disposedBytes());
        assertEquals(0, m.reclaimed());
    }

    @Test
    void whatAManagerTakesAlongIsBookedAsSuch() {
        Memory m =
                Arrays.during(
                        () -> {
                            try (NDManager sub = manager.newSubManager()) {
                                NDArray held = sub.ones(new Shape(10));
                                for (int i = 0; i < 600; i++) { // more than one batch, so that some are in the core
                                    held.add(held).attach(sub);
                                }
                                Ebb.memory();
                                assertTrue(held.getManager() == sub);
                            }
                        });
        assertEquals(601, m.created());
        assertEquals(601, m.regionEnded() + m.reclaimed());
        assertTrue(m.regionEnded() >= 1);
        assertEquals(0, m.live());
    }

    @Test
    void offOrphansWaitAndComeBackWhenSwitchedOn() {
        Ebb.reclaim(false);
        assertFalse(Ebb.isReclaiming());
        Memory off = Arrays.during(() -> Arrays.drop(manager, 50));
        assertEquals(50, off.live());
        assertEquals(50, off.orphans());
        assertEquals(0, off.reclaimed());
        Memory on = Arrays.during(() -> Ebb.reclaim(true));
        assertEquals(50, on.reclaimed());
        assertEquals(-50, on.orphans());
    }

    @Test
    void offOrphansEndWithTheirManager() {
        Ebb.reclaim(false);
        Memory m =
                Arrays.during(
                        () -> {
                            try (NDManager sub = manager.newSubManager()) {
                                Arrays.drop(sub, 20);
                                Ebb.collect();
                            }
                        });
        assertEquals(20, m.regionEnded());
        assertEquals(0, m.orphans());
        assertEquals(0, m.live());
    }

    @Test
    void aDetachedArrayComesBackWhenDropped() {
        Memory m = Arrays.during(() -> manager.ones(new Shape(10)).detach());
        assertEquals(1, m.created());
        assertEquals(1, m.reclaimed());
        Memory closed =
                Arrays.during(
                        () -> {
                            NDArray array = manager.ones(new Shape(10));
                            array.detach();
                            array.close();
                        });
        assertEquals(1, closed.disposed());
        assertEquals(0, EbbRuntime.tables().get("loose"));
    }

    @Test
    void anAttachedArrayIsBornOnce() {
        Memory m =
                Arrays.during(
                        () -> {
                            try (NDManager other = manager.newSubManager()) {
                                NDArray array = manager.ones(new Shape(10));
                                array.attach(other);
                                array.attach(manager);
                                array.attach(other);
                            }
                        });
        assertEquals(1, m.created());
        assertEquals(1, m.regionEnded());
    }

    @Test
    void aLentArrayGoesBack() {
        NDArray array = manager.ones(new Shape(10));
        try (NDManager sub = manager.newSubManager()) {
            array.tempAttach(sub);
            assertEquals(1, sub.getManagedArrays().size());
            assertTrue(manager.getManagedArrays().stream().anyMatch(each -> each == array));
        }
        assertTrue(array.getManager() == manager);
        assertEquals(10f, Arrays.sum(array));
        assertEquals(0, EbbRuntime.tables().get("loose"));
    }

    @Test
    void aLentArrayThatIsDroppedComesBack() {
        try (NDManager sub = manager.newSubManager()) {
            Memory m = Arrays.during(() -> manager.ones(new Shape(10)).tempAttach(sub));
            assertEquals(1, m.reclaimed());
            assertEquals(0, EbbRuntime.tables().get("loose"));
            assertTrue(sub.getManagedArrays().isEmpty());
        }
    }

    @Test
    void aDroppedSubManagerComesBackWithWhatItHolds() {
        AtomicInteger closed = new AtomicInteger();
        Memory m =
                Arrays.during(
                        () -> {
                            NDManager sub = manager.newSubManager();
                            Arrays.drop(sub, 10);
                            sub.newSubManager().ones(new Shape(3));
                            AutoCloseable other = closed::incrementAndGet;
                            ((ai.djl.ndarray.BaseNDManager) sub).attachUncappedInternal("other", other);
                        });
        assertEquals(11, m.reclaimed());
        assertEquals(0, m.managers());
        assertEquals(1, closed.get());
    }

    @Test
    void aSubManagerLivesAsLongAsAnArrayOfIt() {
        NDArray array = manager.newSubManager().ones(new Shape(10));
        Ebb.collect();
        assertTrue(array.getManager().isOpen());
        NDArray next = array.add(1);
        assertEquals(20f, Arrays.sum(next));
    }

    @Test
    void nothingThatTracksGrows() {
        Ebb.collect();
        Map<String, Integer> before = EbbRuntime.tables();
        for (int i = 0; i < 5_000; i++) {
            NDArray array = manager.ones(new Shape(2));
            switch (i % 5) {
                case 0 -> array.close();
                case 1 -> array.detach();
                case 2 -> array.tempAttach(manager.newSubManager());
                case 3 -> array.toByteBuffer();
                default -> array.attach(manager.newSubManager());
            }
        }
        Ebb.collect();
        Ebb.collect();
        assertEquals(before, EbbRuntime.tables());
        assertEquals(0, manager.getManagedArrays().size());
    }

    @Test
    void booksFollowTheNativeSide() {
        Memory m = Arrays.during(() -> manager.ones(new Shape(3, 5), DataType.FLOAT64).close());
        assertEquals(120, m.disposedBytes());
        Memory bool = Arrays.during(() -> manager.ones(new Shape(7), DataType.UINT8).close());
        assertEquals(7, bool.disposedBytes());
    }

    /** Ends come in any order among births that the core has not heard of, and among those that it has. */
    @Test
    void theBooksAreExactInWhateverOrderArraysEnd() {
        List<NDArray> held = new ArrayList<>();
        Random random = new Random(7);
        Memory m =
                Arrays.during(
                        () -> {
                            for (int i = 1; i <= 3000; i++) {
                                held.add(manager.ones(new Shape(1 + i % 5)));
                                if (i % 3 == 0) {
                                    held.remove(random.nextInt(held.size())).close();
                                }
                                if (i % 1000 == 0) {
                                    Ebb.memory(); // the core adopts those that are alive
                                }
                            }
                        });
        assertEquals(3000, m.created());
        assertEquals(1000, m.disposed());
        assertEquals(2000, m.live());
        assertEquals(held.stream().mapToLong(array -> 4 * array.size()).sum(), m.liveBytes());
        Ebb.audit();
    }

    @Test
    void aScopeClosesWhatIsAliveAndPinsNothing() throws ReflectiveOperationException {
        Class<?> scopes;
        try {
            scopes = Class.forName("ai.djl.ndarray.NDScope");
        } catch (ClassNotFoundException e) {
            return; // 0.20.0 has none
        }
        AutoCloseable scope = (AutoCloseable) scopes.getConstructor().newInstance();
        NDArray kept = manager.ones(new Shape(10));
        Memory m = Arrays.during(() -> Arrays.drop(manager, 200));
        assertEquals(200, m.reclaimed());
        assertEquals(10f, Arrays.sum(kept));
        try {
            scope.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        assertTrue(manager.getManagedArrays().isEmpty());
    }

    @Test
    void offAScopeEndsWhatWasDroppedInIt() throws Exception {
        Class<?> scopes;
        try {
            scopes = Class.forName("ai.djl.ndarray.NDScope");
        } catch (ClassNotFoundException e) {
            return;
        }
        Ebb.reclaim(false);
        AutoCloseable scope = (AutoCloseable) scopes.getConstructor().newInstance();
        Arrays.drop(manager, 20);
        Ebb.collect();
        long live = Ebb.memory().live();
        scope.close();
        assertEquals(live - 20, Ebb.memory().live());
        assertEquals(0, Ebb.memory().orphans());
    }
}
