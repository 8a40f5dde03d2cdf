package dev.ebb.djl.hazards;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Operands that are dead to the JVM as soon as a long native call has their handles, while one thread collects and
 * gives back what was found dead, and another reuses the memory. Stops at the first wrong result; may crash without
 * fences.
 *
 * <pre>OperandInCall PRODUCTS</pre>
 */
public final class OperandInCall {
    private static final int SIDE = 800;
    private static final Shape SQUARE = new Shape(SIDE, SIDE);

    private OperandInCall() {}

    public static void main(String[] arguments) throws Exception {
        int products = Integer.parseInt(arguments[0]);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger right = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        Thread[] workers = {thread(() -> work(products, right, wrong)), thread(() -> work(products, right, wrong))};
        Thread[] others = {thread(() -> collect(stop)), thread(() -> reuse(stop))};
        for (Thread worker : workers) {
            worker.join();
        }
        stop.set(true);
        for (Thread other : others) {
            other.join();
        }
        System.out.println("right=" + right);
        System.out.println("wrong=" + wrong);
    }

    private static Thread thread(Runnable body) {
        Thread thread = new Thread(body);
        thread.start();
        return thread;
    }

    private static void work(int products, AtomicInteger right, AtomicInteger wrong) {
        try (NDManager manager = NDManager.newBaseManager()) {
            while (right.get() < products && wrong.get() == 0) {
                (isRight(product(manager)) ? right : wrong).incrementAndGet();
            }
        }
    }

    /** Neither factor has a name: both are dead from the moment their handles are on the native stack. */
    private static NDArray product(NDManager manager) {
        return manager.ones(SQUARE).matMul(manager.ones(SQUARE));
    }

    private static boolean isRight(NDArray product) {
        for (float element : product.toFloatArray()) {
            if (element != SIDE) {
                return false;
            }
        }
        return true;
    }

    private static void collect(AtomicBoolean stop) {
        try (NDManager manager = NDManager.newBaseManager()) {
            while (!stop.get()) {
                System.gc();
                manager.ones(new Shape(1)).close();
                Thread.yield();
            }
        }
    }

    /** Writes other numbers over whatever comes back. */
    private static void reuse(AtomicBoolean stop) {
        try (NDManager manager = NDManager.newBaseManager()) {
            while (!stop.get()) {
                try (NDArray a = manager.full(SQUARE, 7f);
                        NDArray b = manager.full(SQUARE, 7f)) {
                    b.addi(a);
                }
                Thread.yield();
            }
        }
    }
}
