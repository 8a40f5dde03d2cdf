package dev.ebb.djl.engines;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.support.OnnxModule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ONNX Runtime, whose arrays are built unlike PyTorch's: they hold an object, not a handle. */
@Tag("once")
class OnnxTest {
    private static final int MANY = 500;

    @BeforeEach
    void on() {
        Ebb.reclaim(true);
        Ebb.collect();
    }

    private static NDManager manager() {
        return Engine.getEngine("OnnxRuntime").newBaseManager();
    }

    private static void drop(NDManager manager) {
        for (int i = 0; i < MANY; i++) {
            manager.create(new float[100], new Shape(100));
        }
    }

    @Test
    void droppedArraysComeBack() {
        try (NDManager manager = manager()) {
            Memory before = Ebb.memory();
            drop(manager);
            Memory between = Ebb.memory();
            assertEquals(MANY, between.created() - before.created());
            Ebb.collect();
            Memory after = Ebb.memory();
            assertTrue(after.live() - before.live() <= 3, () -> after.live() + " live");
            assertTrue(manager.getManagedArrays().size() <= 3);
        }
    }

    @Test
    void heldArraysKeepTheirValues() {
        try (NDManager manager = manager()) {
            List<NDArray> held = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                held.add(manager.create(new float[] {i, i + 1}));
            }
            Ebb.collect();
            drop(manager);
            Ebb.collect();
            for (int i = 0; i < 50; i++) {
                assertArrayEquals(new float[] {i, i + 1}, held.get(i).toFloatArray());
            }
        }
    }

    @Test
    void closingAndManagersWorkAsBefore() {
        NDManager manager = manager();
        Memory before = Ebb.memory();
        manager.create(new float[] {1}).close();
        NDArray held = manager.create(new float[] {2});
        manager.close();
        Memory after = Ebb.memory();
        assertEquals(1, after.disposed() - before.disposed());
        assertEquals(1, after.regionEnded() - before.regionEnded());
        assertEquals(before.live(), after.live());
        java.lang.ref.Reference.reachabilityFence(held);
    }

    @Test
    void aModelThatRunsOutOfMemoryTellsWhereItIs(@TempDir Path folder) throws Exception {
        OnnxModule.write(folder);
        Ebb.trace(true);
        try (Model model = Model.newInstance("matmul", "OnnxRuntime")) {
            model.load(folder);
            try (Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator())) {
                NDManager manager = model.getNDManager();
                assertArrayEquals(new float[] {6}, multiplied(predictor, manager, 1).toFloatArray());
                drop(manager);
                long before = Ebb.memory().reclaimed();
                var e = assertThrows(TranslateException.class, () -> multiplied(predictor, manager, 1 << 22));
                String told = e.getCause().getMessage();
                assertTrue(told.contains("[ebb] it is not tried twice"), told);
                assertTrue(told.contains("OnnxTest.java:"), told);
                assertTrue(Ebb.memory().reclaimed() - before >= MANY, told);
            }
        } finally {
            Ebb.trace(false);
        }
    }

    /** A column of twos times a row of threes. */
    private static NDArray multiplied(Predictor<NDList, NDList> predictor, NDManager manager, int length)
            throws TranslateException {
        float[] twos = new float[length];
        float[] threes = new float[length];
        java.util.Arrays.fill(twos, 2);
        java.util.Arrays.fill(threes, 3);
        NDArray column = manager.create(twos, new Shape(length, 1));
        NDArray row = manager.create(threes, new Shape(1, length));
        return predictor.predict(new NDList(column, row)).singletonOrThrow();
    }
}
