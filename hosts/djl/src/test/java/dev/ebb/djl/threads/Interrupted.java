package dev.ebb.djl.threads;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that are interrupted in mid-call, again and again: each works until it is, with its flag set or by an exception of
 * its own, and leaves what it had. Then the books have to balance and all memory has to be back.
 *
 * <pre>Interrupted TIMES</pre>
 */
public final class Interrupted {
    private static final int AT_ONCE = 4;

    private Interrupted() {}

    public static void main(String[] arguments) throws Exception {
        Ebb.reclaim(true);
        int times = Integer.parseInt(arguments[0]);
        long before = Ebb.memory().live();
        AtomicLong calls = new AtomicLong();
        AtomicLong wrong = new AtomicLong();
        Random random = new Random(1);
        try (NDManager shared = NDManager.newBaseManager()) {
            for (int done = 0; done < times; done += AT_ONCE) {
                Thread[] threads = new Thread[AT_ONCE];
                for (int i = 0; i < AT_ONCE; i++) {
                    long seed = random.nextLong();
                    threads[i] = new Thread(() -> work(shared, new Random(seed), calls, wrong));
                    threads[i].start();
                }
                for (Thread thread : threads) {
                    Thread.sleep(0, 100_000 + random.nextInt(800_000));
                    thread.interrupt();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
            }
        }
        for (int i = 0; i < 3; i++) {
            Ebb.collect();
        }
        Ebb.audit();
        Memory memory = Ebb.memory();
        System.out.println("interrupted=" + times);
        System.out.println("calls=" + calls);
        System.out.println("wrong=" + wrong);
        System.out.println("left=" + (memory.live() - before));
        System.out.println("managers=" + memory.managers());
        System.exit(wrong.get() == 0 && memory.live() == before ? 0 : 1);
    }

    /** It waits for the JVM's reference handler: interrupted there, too, it has to end as usual, the flag still set. */
    private static void collectInterrupted(AtomicLong wrong) {
        try {
            boolean before = Thread.currentThread().isInterrupted();
            Ebb.collect();
            if (before && !Thread.currentThread().isInterrupted()) {
                wrong.incrementAndGet();
            }
        } catch (Throwable e) {
            wrong.incrementAndGet();
            throw e;
        }
    }

    private static void work(NDManager shared, Random random, AtomicLong calls, AtomicLong wrong) {
        NDManager manager = shared.newSubManager();
        while (!Thread.currentThread().isInterrupted()) {
            int value = random.nextInt(100);
            NDArray array = manager.full(new Shape(1 + random.nextInt(5000)), (float) value);
            float[] values = array.add(1).toFloatArray();
            calls.incrementAndGet();
            if (values[values.length - 1] != value + 1) {
                wrong.incrementAndGet();
            }
            if (random.nextInt(20) == 0) {
                collectInterrupted(wrong);
            }
        }
        if (random.nextBoolean()) {
            manager.close(); // with the flag set
        }
    }
}
