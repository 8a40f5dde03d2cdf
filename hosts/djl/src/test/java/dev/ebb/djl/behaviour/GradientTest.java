package dev.ebb.djl.behaviour;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import dev.ebb.djl.support.ForcedCollections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The gradient collector. The graph holds what it needs by itself, so results that nobody names any more may come
 * back before {@code backward}.
 */
@ExtendWith(ForcedCollections.class)
class GradientTest {
    /** As an array that the engine has made: one from Java data has a hazard of its own (hazards/OwnMemoryTest). */
    private static NDArray variable(NDManager manager, float... values) {
        try (NDArray data = manager.create(values)) {
            NDArray array = data.duplicate();
            array.setRequiresGradient(true);
            return array;
        }
    }

    private static GradientCollector collector() {
        return Engine.getInstance().newGradientCollector();
    }

    @Test
    void theGradientOfASquare() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = variable(manager, 1, 2, 3);
            try (GradientCollector collector = collector()) {
                collector.backward(x.mul(x).sum());
            }
            assertArrayEquals(new float[] {2, 4, 6}, x.getGradient().toFloatArray());
        }
    }

    @Test
    void longChainsOfTemporaries() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = variable(manager, 1, 2);
            NDArray one = manager.ones(new Shape(2));
            try (GradientCollector collector = collector()) {
                NDArray y = x;
                for (int i = 0; i < 200; i++) {
                    y = y.add(one).mul(one).sub(one);
                }
                collector.backward(y.mul(y).sum());
            }
            assertArrayEquals(new float[] {2, 4}, x.getGradient().toFloatArray());
        }
    }

    @Test
    void throughReshapeSliceAndTranspose() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = variable(manager, 1, 2, 3, 4, 5, 6);
            try (GradientCollector collector = collector()) {
                NDArray part = x.reshape(2, 3).transpose().get("1:, :");
                collector.backward(part.mul(part).sum());
            }
            assertArrayEquals(new float[] {0, 4, 6, 0, 10, 12}, x.getGradient().toFloatArray());
        }
    }

    @Test
    void throughMatrixProducts() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray w = variable(manager, 1, 2, 3, 4).reshape(2, 2).duplicate();
            NDArray x = manager.ones(new Shape(3, 2));
            w.setRequiresGradient(true);
            try (GradientCollector collector = collector()) {
                collector.backward(x.matMul(w).sum());
            }
            assertArrayEquals(new float[] {3, 3, 3, 3}, w.getGradient().toFloatArray());
        }
    }

    @Test
    void zeroGradientsClears() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = variable(manager, 2);
            try (GradientCollector collector = collector()) {
                collector.backward(x.mul(x).sum());
                assertArrayEquals(new float[] {4}, x.getGradient().toFloatArray());
                collector.zeroGradients();
                assertArrayEquals(new float[] {0}, x.getGradient().toFloatArray());
            }
        }
    }

    @Test
    void aGradientOutlivesItsGraph() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = variable(manager, 3);
            NDArray gradient;
            try (NDManager scratch = manager.newSubManager();
                    GradientCollector collector = collector()) {
                NDArray y = x.mul(x);
                y.attach(scratch);
                collector.backward(y);
                gradient = x.getGradient();
            }
            assertArrayEquals(new float[] {6}, gradient.toFloatArray());
        }
    }

    @Test
    void stopGradientStopsIt() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = variable(manager, 3);
            try (GradientCollector collector = collector()) {
                collector.backward(x.mul(x.stopGradient()).sum());
            }
            assertArrayEquals(new float[] {3}, x.getGradient().toFloatArray());
        }
    }

    @Test
    void onlyOneCollectorAtATime() {
        GradientCollector first = collector();
        assertThrows(IllegalStateException.class, GradientTest::collector);
        first.close();
        collector().close();
    }

    @Test
    void withoutACollectorNothingIsRecorded() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = variable(manager, 3);
            assertTrue(x.hasGradient());
            NDArray plain = manager.ones(new Shape(1));
            assertFalse(plain.hasGradient());
            assertEquals(9f, x.mul(x).getFloat(0));
        }
    }
}
