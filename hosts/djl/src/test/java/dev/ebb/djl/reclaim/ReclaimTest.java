package dev.ebb.djl.reclaim;

import static dev.ebb.djl.support.Managers.holding;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.core.managers.ManagerShape;
import dev.ebb.djl.support.Managers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What comes back, when, and what does not. */
class ReclaimTest {
    private static final Shape SMALL = new Shape(10);
    private static final int MANY = 1000;

    private NDManager manager;

    @BeforeEach
    void open() {
        Ebb.reclaim(true);
        Ebb.collect();
        manager = NDManager.newBaseManager();
    }

    @AfterEach
    void close() {
        Ebb.reclaim(true);
        manager.close();
        Ebb.audit();
    }

    private static void drop(NDManager in, int count) {
        for (int i = 0; i < count; i++) {
            in.ones(SMALL);
        }
    }

    /** A few arrays may still be on the stack or in a register. */
    private static void assertFew(long count) {
        assertTrue(count <= 3, () -> count + " left");
    }

    @Test
    void droppedArraysComeBack() {
        Memory before = Ebb.memory();
        drop(manager, MANY);
        Ebb.collect();
        Memory after = Ebb.memory();
        assertEquals(before.created() + MANY, after.created());
        assertFew(after.live() - before.live());
        assertTrue(after.reclaimed() - before.reclaimed() >= MANY - 3);
        assertFew(Managers.resources(manager));
        assertFew(manager.getManagedArrays().size());
    }

    @Test
    void atTheNextAttach() throws Exception {
        drop(manager, MANY);
        Memory before = Ebb.memory();
        long gone = System.nanoTime() + 5_000_000_000L;
        int left = MANY;
        while (left > 3 && System.nanoTime() < gone) {
            System.gc();
            Thread.sleep(5);
            manager.ones(SMALL).close();
            left = Managers.resources(manager);
        }
        assertFew(left);
        assertTrue(Ebb.memory().reclaimed() > before.reclaimed());
    }

    @Test
    void atAManagersClose() throws Exception {
        drop(manager, MANY);
        long gone = System.nanoTime() + 5_000_000_000L;
        NDManager[] others = new NDManager[50];
        for (int i = 0; i < others.length; i++) {
            others[i] = NDManager.newBaseManager();
        }
        for (int i = 0; i < others.length && Managers.resources(manager) > 3 && System.nanoTime() < gone; i++) {
            System.gc();
            Thread.sleep(5);
            others[i].close();
        }
        assertFew(Managers.resources(manager));
    }

    @Test
    void heldArraysStay() {
        List<NDArray> held = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            held.add(manager.full(SMALL, (float) i));
        }
        for (int i = 0; i < 5; i++) {
            Ebb.collect();
        }
        assertEquals(MANY, Managers.resources(manager));
        for (int i = 0; i < MANY; i++) {
            assertEquals(i, held.get(i).getFloat(0));
        }
    }

    @Test
    void aListHoldsItsArrays() {
        NDList list = new NDList();
        for (int i = 0; i < 10; i++) {
            list.add(manager.full(SMALL, (float) i));
        }
        Ebb.collect();
        assertEquals(10, manager.getManagedArrays().size());
        assertEquals(9f, list.get(9).getFloat(0));
    }

    @Test
    void aViewOutlivesItsDroppedSource() {
        NDArray view = manager.create(new float[] {1, 2, 3, 4}).add(0f).reshape(2, 2).get(1);
        for (int i = 0; i < 3; i++) {
            Ebb.collect();
            drop(manager, 10);
        }
        assertArrayEquals(new float[] {3, 4}, view.toFloatArray());
    }

    @Test
    void anArrayKeepsItsManagerOpen() {
        NDArray array = manager.newSubManager().full(SMALL, 5f);
        for (int i = 0; i < 3; i++) {
            Ebb.collect();
        }
        assertTrue(array.getManager().isOpen());
        assertEquals(5f, array.getFloat(0));
    }

    @Test
    void droppedSubManagersComeBackWithWhatTheyHold() {
        Memory before = Ebb.memory();
        for (int i = 0; i < 100; i++) {
            NDManager dropped = manager.newSubManager();
            drop(dropped, 5);
            drop(dropped.newSubManager(), 5);
        }
        for (int i = 0; i < 3; i++) {
            Ebb.collect();
        }
        assertFew(Managers.resources(manager));
        Memory after = Ebb.memory();
        assertFew(after.live() - before.live());
        assertFew(after.managers() - before.managers());
    }

    @Test
    void aLoanFromADroppedManagerIsNotLost() {
        NDArray array = manager.full(SMALL, 3f);
        array.tempAttach(manager.newSubManager());
        for (int i = 0; i < 3; i++) {
            Ebb.collect();
        }
        assertEquals(3f, array.getFloat(0));
        array.getManager().close();
        assertEquals(manager, array.getManager());
        assertEquals(3f, array.getFloat(0));
    }

    @Test
    void lentArraysComeBack() {
        NDManager borrower = manager.newSubManager();
        Memory before = Ebb.memory();
        for (int i = 0; i < MANY; i++) {
            manager.ones(SMALL).tempAttach(borrower);
        }
        Ebb.collect();
        Ebb.collect();
        assertFew(Ebb.memory().live() - before.live());
        assertFew(borrower.getManagedArrays().size());
        borrower.close();
    }

    @Test
    void detachedArraysComeBack() {
        NDManager system = Managers.system();
        int before = Managers.resources(system);
        for (int i = 0; i < MANY; i++) {
            manager.ones(SMALL).detach();
        }
        Ebb.collect();
        assertFew(Managers.resources(system) - before);
    }

    @Test
    void resultsThatEscapedComeBack() {
        NDArray parameter = manager.ones(SMALL);
        Memory before = Ebb.memory();
        for (int i = 0; i < 100; i++) {
            try (NDManager inner = manager.newSubManager()) {
                parameter.add(inner.ones(SMALL)); // the result belongs to the parameter's manager
            }
        }
        Ebb.collect();
        assertFew(Ebb.memory().live() - before.live());
        holding(parameter);
    }

    @Test
    void aScopeDoesNotPin() throws Exception {
        AutoCloseable scope = Managers.newScope();
        org.junit.jupiter.api.Assumptions.assumeTrue(scope != null);
        Memory before = Ebb.memory();
        drop(manager, MANY);
        Ebb.collect();
        long left = Ebb.memory().live() - before.live();
        scope.close();
        assertFew(left);
    }

    @Test
    void offTheDeadWaitAndOnTheyComeBack() {
        Ebb.reclaim(false);
        assertFalse(Ebb.isReclaiming());
        Memory before = Ebb.memory();
        drop(manager, MANY);
        Ebb.collect();
        assertEquals(MANY, Ebb.memory().live() - before.live());
        assertEquals(before.reclaimed(), Ebb.memory().reclaimed());
        Ebb.reclaim(true);
        assertTrue(Ebb.isReclaiming());
        Ebb.collect();
        assertFew(Ebb.memory().live() - before.live());
    }

    /** The seed's slow epochs, without reclaim: a walk does not pass what waits. */
    @Test
    void offWalksMeetWhatIsAlive() {
        Ebb.reclaim(false);
        NDManager inner = manager.newSubManager();
        NDArray held = inner.ones(SMALL);
        Memory before = Ebb.memory();
        drop(inner, MANY);
        Ebb.collect();
        assertFew(ManagerShape.mapOf(inner).records().size() - 1);
        assertEquals(MANY, Ebb.memory().live() - before.live());
        inner.close();
        assertEquals(before.live() - 1, Ebb.memory().live());
        assertEquals(MANY + 1, Ebb.memory().regionEnded() - before.regionEnded());
        holding(held);
    }

    @Test
    void theBooksSayWhy() {
        Memory before = Ebb.memory();
        manager.ones(SMALL).close();
        NDManager inner = manager.newSubManager();
        NDArray held = inner.ones(SMALL);
        inner.close();
        Memory after = Ebb.memory();
        assertEquals(1, after.disposed() - before.disposed());
        assertEquals(1, after.regionEnded() - before.regionEnded());
        assertEquals(40, after.disposedBytes() - before.disposedBytes());
        assertEquals(before.liveBytes(), after.liveBytes());
        holding(held);
    }

    /** Old ones, which the JVM's young collections would not look at. The longer a collection takes, the more walks. */
    @Test
    void walksOverManyDeadEndInACollection() {
        dropOldOnes(30_000);
        int seen = MANY;
        for (int i = 0; i < 1000 && seen >= MANY; i++) {
            seen = manager.getManagedArrays().size();
        }
        assertFew(seen);
    }

    @Test
    void aWalkHoldsOneArrayAtATime() {
        drop(manager, MANY);
        int visited = 0;
        for (NDArray array : manager.getManagedArrays()) {
            assertEquals(manager, array.getManager());
            if (++visited == 10) {
                Ebb.collect();
            }
        }
        assertTrue(visited < 20, visited + " visited, though all were dropped");
        assertFew(Managers.resources(manager));
    }

    @Test
    void aListThatIsUsedAsOneHoldsThemAll() {
        drop(manager, MANY);
        List<NDArray> list = manager.getManagedArrays();
        int size = list.size();
        Ebb.collect();
        assertEquals(size, list.size());
        list.forEach(array -> assertEquals(SMALL, array.getShape()));
        list.add(manager.ones(SMALL));
        assertEquals(SMALL, list.get(size).getShape());
    }

    private void dropOldOnes(int count) {
        List<NDArray> held = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            held.add(manager.ones(SMALL));
        }
        System.gc();
        holding(held);
    }
}
