package dev.ebb.djl.support;

import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * With {@code -Debb.test.forced=true}: a thread of its own runs full collections at random moments while a test
 * runs, so that whatever a test has let go of is found dead at the next safe point, wherever that is. Without the
 * property it does nothing, so the same tests describe stock DJL.
 */
public final class ForcedCollections implements BeforeEachCallback, AfterEachCallback {
    private static final boolean ON = Boolean.getBoolean("ebb.test.forced");
    private static final long SEED = Long.getLong("ebb.test.seed", 1);
    private static final int LONGEST_PAUSE_US = 4_000;

    private Thread thread;
    private final AtomicBoolean stop = new AtomicBoolean();

    @Override
    public void beforeEach(ExtensionContext context) {
        if (!ON) {
            return;
        }
        stop.set(false);
        Random random = new Random(SEED + context.getDisplayName().hashCode());
        thread = new Thread(() -> collectUntilStopped(random), "forced collections");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void afterEach(ExtensionContext context) throws InterruptedException {
        if (thread != null) {
            stop.set(true);
            thread.join();
            thread = null;
        }
    }

    private void collectUntilStopped(Random random) {
        while (!stop.get()) {
            System.gc();
            long until = System.nanoTime() + 1_000L * random.nextInt(LONGEST_PAUSE_US);
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
        }
    }
}
