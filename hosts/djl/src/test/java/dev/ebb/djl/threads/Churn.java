package dev.ebb.djl.threads;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Threads that make, drop, close, lend and hand over arrays, and close or drop their managers, while each drains
 * what the others dropped. A program of DJL's alone; every value is checked before it is let go.
 *
 * <pre>Churn THREADS REPETITIONS OPERATIONS [SEED]</pre>
 */
public final class Churn {
    private static final int SIZE = 64;
    private static final int HELD = 16;

    private final NDManager shared = NDManager.newBaseManager();
    private final Queue<NDArray> handedOver = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private Churn() {}

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        int repetitions = Integer.parseInt(arguments[1]);
        int operations = Integer.parseInt(arguments[2]);
        long seed = arguments.length > 3 ? Long.parseLong(arguments[3]) : 1;
        AtomicBoolean stop = new AtomicBoolean();
        Thread collecting = new Thread(() -> collect(stop));
        collecting.setDaemon(true);
        collecting.start();
        for (int i = 0; i < repetitions; i++) {
            new Churn().run(threads, operations, seed + 1000L * i);
        }
        stop.set(true);
        collecting.join();
        System.out.println("repetitions=" + repetitions);
    }

    private static void collect(AtomicBoolean stop) {
        while (!stop.get()) {
            System.gc();
            Thread.yield();
        }
    }

    private void run(int count, int operations, long seed) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Worker worker = new Worker(new Random(seed + i), operations);
            threads.add(new Thread(worker));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        shared.close();
        if (failure.get() != null) {
            throw new AssertionError("a thread failed (seed " + seed + ")", failure.get());
        }
    }

    /** An array and what all its elements must be. */
    private record Held(NDArray array, int value) {
        void check() {
            for (int element : array.toIntArray()) {
                if (element != value) {
                    throw new AssertionError(element + " instead of " + value);
                }
            }
        }
    }

    private final class Worker implements Runnable {
        private final Random random;
        private final int operations;
        private final Held[] held = new Held[HELD];
        private NDManager manager = shared.newSubManager();

        Worker(Random random, int operations) {
            this.random = random;
            this.operations = operations;
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < operations && failure.get() == null; i++) {
                    step();
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }

        private void step() {
            int slot = random.nextInt(HELD);
            switch (random.nextInt(10)) {
                case 0, 1, 2 -> held[slot] = make(manager);
                case 3 -> held[slot] = make(shared);
                case 4 -> compute(slot);
                case 5 -> closeOne(slot);
                case 6 -> lend(slot);
                case 7 -> handOver();
                case 8 -> dropSubManager();
                default -> changeManager();
            }
        }

        private Held make(NDManager owner) {
            int value = random.nextInt(1000);
            return new Held(owner.full(new Shape(SIZE), value), value);
        }

        private void compute(int slot) {
            if (held[slot] != null) {
                held[slot].check();
                held[slot] = new Held(held[slot].array.add(7).mul(2), 2 * (held[slot].value + 7));
            }
        }

        private void closeOne(int slot) {
            if (held[slot] != null) {
                held[slot].check();
                held[slot].array.close();
                held[slot] = null;
            }
        }

        private void lend(int slot) {
            if (held[slot] != null) {
                NDManager before = held[slot].array.getManager();
                try (NDManager borrower = shared.newSubManager()) {
                    held[slot].array.tempAttach(borrower);
                    held[slot].array.add(1);
                }
                held[slot].check();
                if (held[slot].array.getManager() != before) {
                    throw new AssertionError("a loan did not go back");
                }
            }
        }

        private void handOver() {
            NDArray taken = handedOver.poll();
            if (taken != null) {
                taken.attach(manager);
                new Held(taken, taken.getInt(0)).check();
            }
            NDArray given = make(shared).array;
            handedOver.add(given);
        }

        /** Nobody closes it: it comes back with what it holds, and the loan goes home. */
        private void dropSubManager() {
            NDManager dropped = manager.newSubManager();
            make(dropped);
            make(dropped.newSubManager());
            Held lent = make(manager);
            lent.array.tempAttach(dropped);
            held[random.nextInt(HELD)] = lent;
            lent.check();
            if (random.nextBoolean()) {
                lent.array.attach(manager);
            }
        }

        /** Closes this thread's manager while the others drain what was dropped in it. */
        private void changeManager() {
            for (int i = 0; i < HELD; i++) {
                if (held[i] != null) {
                    held[i].check();
                    held[i] = null;
                }
            }
            NDManager old = manager;
            manager = shared.newSubManager();
            if (random.nextBoolean()) {
                old.close();
            }
        }
    }
}
