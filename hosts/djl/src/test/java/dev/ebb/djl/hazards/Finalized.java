package dev.ebb.djl.hazards;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import java.util.concurrent.atomic.AtomicInteger;

/** Objects whose finalizers compute with their array, and close it, while other arrays come and go. */
public final class Finalized {
    private static final int COUNT = 2000;
    private static final AtomicInteger RIGHT = new AtomicInteger();
    private static final AtomicInteger ENDED = new AtomicInteger();

    private final NDManager manager;
    private final NDArray array;

    private Finalized(NDManager parent) {
        manager = parent.newSubManager();
        array = manager.ones(new Shape(1000));
    }

    @Override
    @SuppressWarnings({"deprecation", "removal"})
    protected void finalize() {
        for (int i = 0; i < 20; i++) {
            if (array.add(1).getFloat(999) == 2f) {
                RIGHT.incrementAndGet();
            }
        }
        manager.close();
        ENDED.incrementAndGet();
    }

    public static void main(String[] arguments) throws InterruptedException {
        try (NDManager manager = NDManager.newBaseManager()) {
            for (int i = 0; i < COUNT; i++) {
                new Finalized(manager);
                manager.ones(new Shape(10));
                if (i % 100 == 0) {
                    System.gc();
                }
            }
            for (int i = 0; i < 1000 && ENDED.get() < COUNT - 3; i++) { // the last may be on the stack
                System.gc();
                Thread.sleep(10);
            }
            System.out.println("ended=" + ENDED.get());
            System.out.println("wrong=" + (20 * ENDED.get() - RIGHT.get()));
        }
        Ebb.collect();
        System.out.println("left=" + Ebb.memory().live());
    }
}
