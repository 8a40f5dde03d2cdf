package dev.ebb.djl.behaviour;

import static dev.ebb.djl.support.Managers.holding;
import static dev.ebb.djl.support.Managers.isOpen;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.support.ForcedCollections;
import dev.ebb.djl.support.Managers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What stock DJL promises of its manager tree; holds alike without Ebb, with it, and under forced collections. */
@ExtendWith(ForcedCollections.class)
class ManagerTreeTest {
    private static final Shape SMALL = new Shape(2, 3);

    @Test
    void anArrayEndsWithItsManager() {
        NDArray array;
        try (NDManager manager = NDManager.newBaseManager()) {
            array = manager.ones(SMALL);
            assertTrue(isOpen(array));
        }
        assertFalse(isOpen(array));
    }

    @Test
    void aParentsCloseEndsTheWholeBranch() {
        NDManager parent = NDManager.newBaseManager();
        NDManager child = parent.newSubManager();
        NDManager grandchild = child.newSubManager();
        NDArray array = grandchild.ones(SMALL);
        parent.close();
        assertFalse(child.isOpen());
        assertFalse(grandchild.isOpen());
        assertFalse(isOpen(array));
    }

    @Test
    void aSubManagersCloseLeavesItsParentAlone() {
        try (NDManager parent = NDManager.newBaseManager()) {
            NDArray above = parent.ones(SMALL);
            NDManager child = parent.newSubManager();
            NDArray below = child.ones(SMALL);
            assertEquals(2, Managers.resources(parent));
            child.close();
            assertTrue(isOpen(above));
            assertFalse(isOpen(below));
            assertEquals(1, Managers.resources(parent));
            holding(above, child);
        }
    }

    @Test
    void closingTwiceIsHarmless() {
        NDManager manager = NDManager.newBaseManager();
        NDArray array = manager.ones(SMALL);
        array.close();
        array.close();
        manager.close();
        manager.close();
        array.close();
        assertFalse(manager.isOpen());
    }

    @Test
    void aClosedArrayLeavesItsManager() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray kept = manager.ones(SMALL);
            NDArray closed = manager.ones(SMALL);
            closed.close();
            assertEquals(List.of(kept), manager.getManagedArrays());
        }
    }

    @Test
    void useAfterCloseThrows() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray array = manager.ones(SMALL);
            array.close();
            assertThrows(IllegalStateException.class, () -> array.add(1));
        }
    }

    @Test
    void attachMovesAnArray() {
        try (NDManager keeper = NDManager.newBaseManager()) {
            NDArray array;
            try (NDManager maker = NDManager.newBaseManager()) {
                array = maker.create(new float[] {1, 2, 3});
                array.attach(keeper);
                assertSame(keeper, array.getManager());
                assertEquals(0, Managers.resources(maker));
            }
            assertArrayEquals(new float[] {1, 2, 3}, array.toFloatArray());
        }
    }

    @Test
    void detachHandsAnArrayToTheSystemManager() {
        NDArray array;
        try (NDManager manager = NDManager.newBaseManager()) {
            array = manager.create(new float[] {4, 5});
            array.detach();
        }
        assertSame(Managers.system(), array.getManager());
        assertArrayEquals(new float[] {4, 5}, array.toFloatArray());
        array.close();
    }

    @Test
    void aTemporaryAttachmentGoesBack() {
        try (NDManager owner = NDManager.newBaseManager()) {
            NDArray array = owner.create(new float[] {1});
            try (NDManager borrower = NDManager.newBaseManager()) {
                array.tempAttach(borrower);
                assertSame(borrower, array.getManager());
            }
            assertSame(owner, array.getManager());
            assertArrayEquals(new float[] {1}, array.toFloatArray());
        }
    }

    @Test
    void aLoanOfALoanGoesBackStepByStep() {
        try (NDManager owner = NDManager.newBaseManager()) {
            NDArray array = owner.create(new float[] {7});
            NDManager first = NDManager.newBaseManager();
            array.tempAttach(first);
            NDManager second = NDManager.newBaseManager();
            array.tempAttach(second);
            second.close();
            assertSame(first, array.getManager());
            first.close();
            assertSame(owner, array.getManager());
            assertArrayEquals(new float[] {7}, array.toFloatArray());
        }
    }

    @Test
    void aLoanWhoseOwnerHasClosedEnds() {
        NDManager owner = NDManager.newBaseManager();
        NDArray array = owner.ones(SMALL);
        NDManager borrower = NDManager.newBaseManager();
        array.tempAttach(borrower);
        owner.close();
        assertTrue(isOpen(array));
        borrower.close();
        assertFalse(isOpen(array));
    }

    @Test
    void aLoanThatWasDetachedStays() {
        try (NDManager owner = NDManager.newBaseManager();
                NDManager elsewhere = NDManager.newBaseManager()) {
            NDArray array = owner.ones(SMALL);
            try (NDManager borrower = NDManager.newBaseManager()) {
                array.tempAttach(borrower);
                array.attach(elsewhere);
            }
            assertSame(elsewhere, array.getManager());
            assertTrue(isOpen(array));
        }
    }

    @Test
    void aLoanIsListedByItsBorrower() {
        try (NDManager owner = NDManager.newBaseManager();
                NDManager borrower = NDManager.newBaseManager()) {
            NDArray array = owner.ones(SMALL);
            array.tempAttach(borrower);
            assertTrue(borrower.getManagedArrays().contains(array));
            assertFalse(owner.getManagedArrays().contains(array));
            holding(array);
        }
    }

    @Test
    void aCappedManagerTakesNoMore() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray before = manager.ones(SMALL);
            manager.cap();
            assertThrows(IllegalStateException.class, () -> manager.ones(SMALL));
            assertTrue(isOpen(before));
            NDManager child = manager.newSubManager();
            assertTrue(isOpen(child.ones(SMALL)));
        }
    }

    @Test
    void aClosedManagerTakesNoMore() {
        NDManager manager = NDManager.newBaseManager();
        manager.close();
        assertThrows(IllegalStateException.class, () -> manager.ones(SMALL));
    }

    @Test
    void retMovesWhatAFunctionReturns() {
        try (NDManager outer = NDManager.newBaseManager()) {
            NDList kept;
            NDArray scratch;
            try (NDManager inner = outer.newSubManager()) {
                scratch = inner.ones(SMALL);
                kept = inner.ret(new NDList(scratch.add(1), scratch.add(2)));
            }
            assertFalse(isOpen(scratch));
            assertEquals(3f, kept.get(1).getFloat(0, 0));
            assertSame(outer, kept.get(0).getManager());
        }
    }

    @Test
    void anNDListAttachesAndClosesAsOne() {
        try (NDManager from = NDManager.newBaseManager();
                NDManager to = NDManager.newBaseManager()) {
            NDList list = new NDList(from.ones(SMALL), from.zeros(SMALL));
            list.attach(to);
            assertSame(to, list.get(0).getManager());
            assertSame(to, list.get(1).getManager());
            assertEquals(2, to.getManagedArrays().size());
            list.close();
            assertEquals(0, to.getManagedArrays().size());
        }
    }

    @Test
    void managedArraysAreExactlyThoseInUse() {
        try (NDManager manager = NDManager.newBaseManager()) {
            List<NDArray> held = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                held.add(manager.full(SMALL, i));
            }
            for (int i = 0; i < 50; i += 2) {
                held.get(i).close();
            }
            List<NDArray> managed = manager.getManagedArrays();
            assertEquals(25, managed.size());
            managed.forEach(array -> assertEquals(1, array.getInt(0, 0) % 2));
            holding(held);
        }
    }

    @Test
    void theResultBelongsToTheFirstOperandsManager() {
        try (NDManager longLived = NDManager.newBaseManager();
                NDManager shortLived = NDManager.newBaseManager()) {
            NDArray a = longLived.ones(SMALL);
            NDArray b = shortLived.ones(SMALL);
            assertSame(longLived, a.add(b).getManager());
            assertSame(shortLived, b.add(a).getManager());
        }
    }

    @Test
    void debugDumpCountsWhatIsHeld() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDManager child = manager.newSubManager();
            NDArray one = child.ones(SMALL);
            NDArray two = child.ones(SMALL);
            String[] lines = Managers.dump(manager).split(System.lineSeparator());
            assertEquals(2, lines.length);
            assertTrue(lines[0].endsWith("resource count: 1"), lines[0]);
            assertTrue(lines[1].startsWith("    "), lines[1]);
            assertTrue(lines[1].endsWith("resource count: 2"), lines[1]);
            holding(child, one, two);
        }
    }

    @Test
    void toStringCountsWhatIsHeld() {
        try (NDManager manager = NDManager.newBaseManager()) {
            manager.setName("mine");
            NDArray array = manager.ones(SMALL);
            assertTrue(manager.toString().contains("mine"));
            assertTrue(manager.toString().endsWith("Resource size: 1"), manager.toString());
            holding(array);
        }
    }

    @Test
    void theSystemManagerDoesNotClose() {
        assertThrows(IllegalStateException.class, () -> Managers.system().close());
    }

    @Test
    void nothingIsLeftAtTheSystemManager() {
        NDManager system = Managers.system();
        int before = Managers.resources(system);
        for (int i = 0; i < 20; i++) {
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray array = manager.ones(SMALL);
                array.add(array).mul(2).sum();
            }
        }
        assertTrue(Managers.resources(system) <= before);
    }
}
