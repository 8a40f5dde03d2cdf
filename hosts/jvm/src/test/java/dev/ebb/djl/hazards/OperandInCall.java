package dev.ebb.djl.hazards;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads whose operands are dead to the JIT as soon as the native call has their handles, while another collects
 * and a third gives back whatever was found dead. Prints how many results were wrong; may crash without fences.
 */
public final class OperandInCall {
    private static final int SIZE = 200_000;

    private OperandInCall() {}

    public static void main(String[] arguments) throws Exception {
        int workers = Integer.parseInt(arguments[0]);
        double seconds = Double.parseDouble(arguments[1]);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger wrong = new AtomicInteger();
        AtomicInteger right = new AtomicInteger();
        Thread[] threads = new Thread[workers + 2];
        for (int i = 0; i < workers; i++) {
            threads[i] = new Thread(() -> work(stop, right, wrong));
        }
        threads[workers] = new Thread(() -> repeat(stop, System::gc));
        threads[workers + 1] = new Thread(() -> drain(stop));
        for (Thread thread : threads) {
            thread.start();
        }
        Thread.sleep((long) (1000 * seconds));
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("right=" + right);
        System.out.println("wrong=" + wrong);
    }

    private static void work(AtomicBoolean stop, AtomicInteger right, AtomicInteger wrong) {
        try (NDManager manager = NDManager.newBaseManager()) {
            while (!stop.get()) {
                float sum = sumOfTemporaries(manager);
                (sum == 3f * SIZE ? right : wrong).incrementAndGet();
            }
        }
    }

    /** No temporary has a name: each is dead, to the JIT, from the moment its handle is on the native stack. */
    private static float sumOfTemporaries(NDManager manager) {
        return manager.ones(new Shape(SIZE)).add(manager.ones(new Shape(SIZE))).add(manager.ones(new Shape(SIZE)))
                .sum().getFloat();
    }

    /** Attaching is a safe point: this thread frees what the others let go of, and reuses the memory. */
    private static void drain(AtomicBoolean stop) {
        try (NDManager manager = NDManager.newBaseManager()) {
            repeat(stop, () -> {
                try (NDArray other = manager.full(new Shape(SIZE), 100f)) {
                    other.addi(1);
                }
            });
        }
    }

    private static void repeat(AtomicBoolean stop, Runnable action) {
        while (!stop.get()) {
            action.run();
        }
    }
}
