package dev.ebb.djl.behaviour;

import static dev.ebb.djl.support.Managers.isOpen;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.support.ForcedCollections;
import dev.ebb.djl.support.Managers;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code NDScope}: ends what its thread made inside it, whatever the manager. */
@ExtendWith(ForcedCollections.class)
class ScopeTest {
    @BeforeEach
    void thisDjlHasScopes() throws Exception {
        AutoCloseable scope = Managers.newScope();
        assumeTrue(scope != null, "DJL 0.20.0 has no NDScope");
        scope.close();
    }

    @Test
    void aScopeEndsWhatWasMadeInside() throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray before = manager.ones(new Shape(2));
            NDArray inside;
            AutoCloseable scope = Managers.newScope();
            inside = before.add(1);
            scope.close();
            assertTrue(isOpen(before));
            assertFalse(isOpen(inside));
        }
    }

    @Test
    void whatIsUnregisteredStays() throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray before = manager.ones(new Shape(2));
            AutoCloseable scope = Managers.newScope();
            NDArray kept = before.mul(3);
            Managers.unregisterFromScope(kept);
            scope.close();
            assertArrayEquals(new float[] {3, 3}, kept.toFloatArray());
        }
    }

    @Test
    void theInnermostScopeTakesIt() throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray before = manager.ones(new Shape(2));
            AutoCloseable outer = Managers.newScope();
            NDArray first = before.add(1);
            AutoCloseable inner = Managers.newScope();
            NDArray second = before.add(2);
            inner.close();
            assertTrue(isOpen(first));
            assertFalse(isOpen(second));
            outer.close();
            assertFalse(isOpen(first));
        }
    }
}
