package dev.ebb.djl.engines;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.NoopTranslator;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.support.LightGbmModel;
import dev.ebb.djl.support.Resident;
import java.lang.ref.Reference;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** LightGBM, whose native copies are booked when a model first reads them, and end with their manager or when they are dropped. */
class LightGbmTest {
    private static final int MANY = 200;
    private static final int ROWS = 10;
    private static final int COLUMNS = 10;
    private static final Shape SHAPE = new Shape(ROWS, COLUMNS);
    private static final int BYTES = 4 * ROWS * COLUMNS;
    private static final Shape LARGE = new Shape(1000, 500);
    private static final long LARGE_BYTES = 4L * 1000 * 500;

    private NDManager manager;
    private Memory before;

    @BeforeEach
    void open() throws Exception {
        assumeTrue(Engine.hasEngine("LightGBM"), "another engine is tested");
        Ebb.reclaim(true);
        manager = Engine.getEngine("LightGBM").newBaseManager();
        read(create(manager)).close();
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

    private static NDArray create(NDManager in) {
        return in.create(new float[ROWS * COLUMNS], SHAPE);
    }

    /** As a model does: this makes the native copy. */
    private static NDArray read(NDArray array) throws ReflectiveOperationException {
        array.getClass().getMethod("getHandle").invoke(array);
        return array;
    }

    private static void make(NDManager in) throws ReflectiveOperationException {
        for (int i = 0; i < MANY; i++) {
            read(create(in));
        }
    }

    private long liveBytes() {
        return Ebb.memory().liveBytes() - before.liveBytes();
    }

    @Test
    void theyAreBookedWhenRead() throws Exception {
        try (NDArray floats = create(manager);
                NDArray doubles = manager.create(new double[ROWS * COLUMNS], SHAPE)) {
            assertEquals(0, liveBytes()); // Java's memory so far
            read(floats);
            assertEquals(BYTES, liveBytes());
            read(read(doubles));
            assertEquals(3 * BYTES, liveBytes());
        }
        assertEquals(0, liveBytes());
        assertEquals(2, Ebb.memory().disposed() - before.disposed());
    }

    @Test
    void theyEndWithTheirManager() throws Exception {
        NDManager sub = manager.newSubManager();
        NDArray held = read(create(sub));
        sub.close();
        assertEquals(1, Ebb.memory().regionEnded() - before.regionEnded());
        assertEquals(0, liveBytes());
        Reference.reachabilityFence(held);
    }

    @Test
    void closedAgainTheyAreFreedOnce() throws Exception {
        for (int i = 0; i < MANY; i++) {
            NDManager sub = manager.newSubManager();
            NDArray array = read(create(sub));
            NDArray other = read(create(sub));
            array.close();
            array.close();
            sub.close();
            array.close();
            other.close();
        }
        assertEquals(MANY, Ebb.memory().disposed() - before.disposed());
        assertEquals(MANY, Ebb.memory().regionEnded() - before.regionEnded());
    }

    @Test
    void detachedAndLentOnesAreWatchedOn() throws Exception {
        NDArray array = create(manager);
        array.detach();
        read(array);
        assertEquals(BYTES, liveBytes());
        NDManager borrower = manager.newSubManager();
        NDArray lent = create(manager);
        lent.tempAttach(borrower);
        read(lent);
        assertEquals(2 * BYTES, liveBytes());
        borrower.close();
        lent.close();
        array.close();
        assertEquals(0, liveBytes());
    }

    @Test
    void anInternedOneHasTheOthersContent() throws Exception {
        float[] twos = new float[2 * COLUMNS];
        java.util.Arrays.fill(twos, 2);
        for (int i = 0; i < MANY; i++) {
            NDArray array = read(create(manager));
            NDArray other = read(manager.create(twos, new Shape(2, COLUMNS)));
            array.intern(other);
            assertEquals(0, liveBytes());
            assertArrayEquals(twos, read(array).toFloatArray());
            assertEquals(4 * twos.length, liveBytes());
            array.close();
            other.close();
        }
        assertEquals(0, liveBytes());
    }

    @Test
    void droppedOnesComeBack() throws Exception {
        make(manager);
        Ebb.collect();
        assertTrue(Ebb.memory().live() - before.live() <= 3);
        assertTrue(Ebb.memory().reclaimed() - before.reclaimed() >= MANY - 3);
    }

    @Test
    void aDroppedManagerComesBack() throws Exception {
        make(manager.newSubManager());
        Ebb.collect();
        Ebb.collect();
        assertTrue(Ebb.memory().live() - before.live() <= 3);
        assertEquals(before.managers(), Ebb.memory().managers());
    }

    @Test
    void nativeMemoryIsFreed() throws Exception {
        float[] data = new float[(int) LARGE.size()];
        long resident = Resident.now();
        for (int i = 0; i < MANY; i++) {
            read(manager.create(data, LARGE));
            if (i % 10 == 9) {
                Ebb.collect();
            }
        }
        Ebb.collect();
        long grown = Resident.now() - resident;
        assertTrue(grown < MANY * LARGE_BYTES / 4, grown + " bytes more");
    }

    @Test
    void aModelReadsWhatItIsGiven(@TempDir Path folder) throws Exception {
        LightGbmModel.write(folder, COLUMNS);
        float[] rows = new float[ROWS * COLUMNS];
        float[] expected = new float[ROWS];
        for (int row = 0; row < ROWS; row++) {
            rows[row * COLUMNS] = row % 2;
            expected[row] = row % 2 < LightGbmModel.THRESHOLD ? 1 : 2;
        }
        try (Model model = Model.newInstance("tree", "LightGBM")) {
            model.load(folder, "tree");
            Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator());
            for (int i = 0; i < MANY; i++) {
                NDList result = predictor.predict(new NDList(manager.create(rows, SHAPE)));
                assertArrayEquals(expected, result.singletonOrThrow().toFloatArray());
                if (i % 20 == 0) {
                    System.gc();
                }
            }
            predictor.close();
        }
        Ebb.collect();
        assertTrue(liveBytes() <= 3 * BYTES, liveBytes() + " bytes");
    }
}
