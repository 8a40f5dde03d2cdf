package dev.ebb.djl.soak;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.support.Resident;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Careless threads for minutes: resident memory and the books must come to a plateau, and every value must be
 * right.
 *
 * <pre>Soak SECONDS</pre>
 */
public final class Soak {
    private static final int THREADS = 4;
    private static final double PLATEAU_SHARE = 0.05;
    private static final long PLATEAU_BYTES = 32 << 20;
    private static final int MB = 1 << 20;

    private final NDManager shared = NDManager.newBaseManager();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong right = new AtomicLong();
    private final AtomicLong wrong = new AtomicLong();
    private final List<Long> resident = new ArrayList<>();
    private int faults;

    private Soak() {}

    public static void main(String[] arguments) throws Exception {
        int faults = new Soak().run(Integer.parseInt(arguments[0]));
        System.exit(faults == 0 ? 0 : 1);
    }

    private int run(int seconds) throws Exception {
        Ebb.reclaim(true);
        Ebb.budget(ai.djl.Device.cpu(), "256MB");
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(i);
            threads[i] = new Thread(() -> work(random));
            threads[i].start();
        }
        watch(seconds);
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        judge();
        return faults;
    }

    private void work(Random random) {
        NDManager manager = shared.newSubManager();
        while (!stop.get()) {
            int value = random.nextInt(100);
            float length = 1 + random.nextInt(20_000);
            NDArray x = manager.full(new Shape((long) length), (float) value);
            float sum = x.mul(2).add(1).reshape(-1).sum().getFloat();
            (sum == (2 * value + 1) * length ? right : wrong).incrementAndGet();
            if (random.nextInt(100) == 0) {
                manager = changed(manager, random);
            }
        }
    }

    /** Half of the managers are closed, half are dropped. */
    private NDManager changed(NDManager manager, Random random) {
        if (random.nextBoolean()) {
            manager.close();
        }
        return shared.newSubManager();
    }

    private void watch(int seconds) throws InterruptedException {
        long start = System.nanoTime();
        int lines = 10;
        for (int i = 1; i <= 20 * lines; i++) {
            while (System.nanoTime() - start < i * (seconds * 1e9 / (20 * lines))) {
                Thread.sleep(20);
            }
            resident.add(Resident.now());
            if (i % 20 == 0) {
                Memory memory = Ebb.memory();
                System.out.printf("  %d results, %d wrong, %d MB resident, %d arrays live, %d reclaimed%n",
                        right.get() + wrong.get(), wrong.get(), Resident.now() / MB, memory.live(), memory.reclaimed());
            }
        }
    }

    private void judge() throws Exception {
        long early = most(resident, 1, 2);
        long later = most(resident, 2, 4);
        expect(right.get() > 0 && wrong.get() == 0, right + " results right, " + wrong + " wrong");
        expect(later <= early * (1 + PLATEAU_SHARE) + PLATEAU_BYTES,
                "resident memory: " + early / MB + " MB at most in the second quarter, " + later / MB
                        + " MB in the second half");
        for (int i = 0; i < 3; i++) {
            Ebb.collect();
        }
        Memory memory = Ebb.memory();
        expect(memory.live() < 100, memory.live() + " arrays live once quiet, " + memory.managers() + " managers");
        Ebb.audit();
        expect(true, "the books balance: " + memory.created() + " created");
    }

    private static long most(List<Long> values, int from, int to) {
        return values.subList(values.size() * from / 4, values.size() * to / 4).stream()
                .mapToLong(Long::longValue).max().orElseThrow();
    }

    private void expect(boolean ok, String text) {
        faults += ok ? 0 : 1;
        System.out.println((ok ? "ok    " : "FAULT ") + text);
    }
}
