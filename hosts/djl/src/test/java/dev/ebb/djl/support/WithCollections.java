package dev.ebb.djl.support;

import java.util.Random;

/**
 * With {@code -Debb.test.forced=true}: a thread of its own runs full collections at random moments. Without the property
 * it does nothing, so the same tests describe stock DJL. As a program it runs another one so.
 */
public final class WithCollections implements AutoCloseable {
    private static final boolean ON = Boolean.getBoolean("ebb.test.forced");
    private static final long SEED = Long.getLong("ebb.test.seed", 1);
    private static final int LONGEST_PAUSE_US = 4_000;

    private final Random random;
    private final Thread thread = new Thread(this::collectUntilStopped, "forced collections");
    private volatile boolean stop;

    private WithCollections(long seed) {
        random = new Random(seed);
    }

    /** {@code seed}: different tests collect at different moments, the same one at the same. */
    public static WithCollections start(long seed) {
        WithCollections started = new WithCollections(SEED + seed);
        if (ON) {
            started.thread.setDaemon(true);
            started.thread.start();
        }
        return started;
    }

    @Override
    public void close() {
        stop = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void collectUntilStopped() {
        while (!stop) {
            System.gc();
            long until = System.nanoTime() + 1_000L * random.nextInt(LONGEST_PAUSE_US);
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
        }
    }

    public static void main(String[] arguments) throws ReflectiveOperationException {
        try (WithCollections collections = start(0)) {
            Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
        System.exit(0); // whatever threads the program has left
    }
}
