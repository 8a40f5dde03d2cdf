package dev.ebb.djl.unit;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;

/** What the unit tests share. */
final class Arrays {

    private Arrays() {}

    /** Makes arrays of 1,000 floats and drops them; in a method of its own, so that no local keeps one. */
    static void drop(NDManager manager, int count) {
        for (int i = 0; i < count; i++) {
            manager.ones(new Shape(1000));
        }
    }

    /** What the action adds to the books, dropped arrays given back where reclaim is on. */
    static Memory during(Runnable action) {
        Ebb.collect();
        Memory before = Ebb.memory();
        action.run();
        Ebb.collect();
        Memory after = Ebb.memory();
        return new Memory(
                after.created() - before.created(),
                after.live() - before.live(),
                after.disposed() - before.disposed(),
                after.regionEnded() - before.regionEnded(),
                after.reclaimed() - before.reclaimed(),
                after.shutdown() - before.shutdown(),
                after.orphans() - before.orphans(),
                after.createdBytes() - before.createdBytes(),
                after.liveBytes() - before.liveBytes(),
                after.disposedBytes() - before.disposedBytes(),
                after.regionEndedBytes() - before.regionEndedBytes(),
                after.reclaimedBytes() - before.reclaimedBytes(),
                after.shutdownBytes() - before.shutdownBytes(),
                0,
                0,
                after.managers() - before.managers(),
                after.collections() - before.collections(),
                0,
                0);
    }

    static float sum(NDArray array) {
        try (NDArray sum = array.sum()) {
            return sum.toFloatArray()[0]; // getFloat leaves an array behind in 0.20.0
        }
    }
}
