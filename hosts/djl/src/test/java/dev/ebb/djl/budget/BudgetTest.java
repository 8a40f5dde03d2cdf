package dev.ebb.djl.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.bench.Residents;
import dev.ebb.djl.collectors.BoundedLoop;
import dev.ebb.djl.support.Fork;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A budget is soft: kept while what can be reached fits it, and said once when it does not. */
@Tag("once")
class BudgetTest {
    private static final int MILLION = 1 << 20;
    private static final int MANY_COLLECTIONS = 40;
    private static final long LEAST_NANOS = 1_000_000_000;
    private static final int HELD = 16;
    private static final long ARRAY_BYTES = (long) MILLION * Float.BYTES;
    /** A view and its product are 0.8 MB; half of what is held lies between that and the ceiling. */
    private static final int DROPS_TO_THE_CEILING = 40;

    /** Holds twice its budget, then goes on dropping: as fast as it can, or {@code slowly}. */
    public static final class TooMuch {
        private TooMuch() {}

        public static void main(String[] arguments) {
            List<NDArray> held = new ArrayList<>();
            try (NDManager manager = NDManager.newBaseManager()) {
                for (int i = 0; i < HELD; i++) {
                    held.add(manager.ones(new Shape(MILLION)));
                }
                boolean slowly = List.of(arguments).contains("slowly");
                System.out.println("share=" + shareOfCollecting(held, slowly));
                System.out.println("peak=" + Ebb.memory().peakLiveBytes());
                System.out.println("sum=" + held.get(HELD - 1).sum().getFloat());
            } catch (RuntimeException e) {
                System.out.println("thrown=" + e.getClass().getSimpleName() + ": " + e.getMessage().replace('\n', ' '));
            }
        }
    }

    /** Over so long that one collection more or less does not decide, however slow the machine makes it. */
    private static double shareOfCollecting(List<NDArray> held, boolean slowly) {
        Memory before = Ebb.memory();
        Memory after = before;
        long start = System.nanoTime();
        long took = 0;
        while (took < Math.max(LEAST_NANOS, MANY_COLLECTIONS * after.longestCollectNanos())) {
            for (int i = 0; i < (slowly ? DROPS_TO_THE_CEILING : 500); i++) {
                held.get(i % HELD).get("0:100000").mul(2);
                if (slowly) { // from one collection to the next twice as long as a quarter of the time asks for
                    LockSupport.parkNanos(6 * Ebb.memory().longestCollectNanos() / DROPS_TO_THE_CEILING);
                }
            }
            after = Ebb.memory();
            took = System.nanoTime() - start;
        }
        return (double) (after.collectNanos() - before.collectNanos()) / took;
    }

    /** Threads that drop arrays of a four hundredth of the budget each, more than half of which is in use. */
    public static final class ManyThreads {
        private ManyThreads() {}

        public static void main(String[] arguments) throws Exception {
            int count = Integer.parseInt(arguments[0]);
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray x = manager.ones(new Shape(160_000));
                List<NDArray> held = new ArrayList<>();
                for (int i = 0; i < 240; i++) {
                    held.add(x.add(1));
                }
                Thread[] threads = new Thread[count];
                for (int i = 0; i < count; i++) {
                    threads[i] = new Thread(() -> drop(x, 2400 / count));
                    threads[i].start();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                System.out.println("peak=" + Ebb.memory().peakLiveBytes());
                System.out.println("held=" + held.size());
            }
        }

        private static void drop(NDArray x, int times) {
            for (int i = 0; i < times; i++) {
                x.mul(2);
            }
        }
    }

    /** What waits to be booked is bounded for all threads together. */
    @ParameterizedTest
    @ValueSource(ints = {1, 8, 16})
    void manyThreadsKeepIt(int threads) throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-Debb.budget=256000000").run(ManyThreads.class, threads);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("peak") <= 1.05 * 256_000_000, result.text());
    }

    private static Fork small() {
        return Fork.reclaiming().flag("-Debb.budget=32MB", "-Debb.trace=true");
    }

    @Test
    void beyondItOneWarningNamesTheSites() throws Exception {
        Fork.Result result = small().run(TooMuch.class);
        assertEquals(0, result.status(), result.text());
        assertEquals(MILLION, result.number("sum"));
        assertTrue(result.text().contains("BudgetTest.java:"), result.text());
        assertEquals(1, count(result.text(), "over its budget"), result.text());
    }

    /** A quarter of the time, though it is not enough to hold the ceiling. */
    @Test
    void beyondItCollectingKeepsToItsShare() throws Exception {
        Fork.Result result = small().run(TooMuch.class);
        assertTrue(result.number("share") <= 0.30, result.text());
    }

    /**
     * 1.5 x what can be reached, where a quarter of the time is enough for that. A birth that is to come counts with it, as
     * large as the last.
     */
    @Test
    void beyondItThePeakKeepsToItsCeiling() throws Exception {
        Fork.Result result = small().run(TooMuch.class, "slowly");
        assertTrue(result.number("share") <= 0.30, result.text());
        assertTrue(result.number("peak") >= HELD * ARRAY_BYTES, result.text());
        assertTrue(result.number("peak") <= 1.05 * 1.5 * (HELD + 1) * ARRAY_BYTES, result.text());
    }

    @Test
    void strictThrows() throws Exception {
        Fork.Result result = small().flag("-Debb.strict=true").run(TooMuch.class);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.value("thrown").contains("BudgetTest.java:"), result.text());
    }

    private static int count(String text, String part) {
        return text.split(java.util.regex.Pattern.quote(part), -1).length - 1;
    }

    /** The seed's last slide: one jump of memory before the collector gets going. */
    @Test
    void noJumpWithDefaultSettings() throws Exception {
        Fork.Result result = Fork.reclaiming().run(BoundedLoop.class, 2000, 250_000);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("growth") < 512, result.text());
    }

    /** Small results that are kept lie between large arrays that end: glibc keeps those pages, unless it is told not to. */
    @Test
    void memoryBetweenKeptResultsGoesBackWhereAsked() throws Exception {
        double usual = Fork.reclaiming().run(Residents.class, "kept").number("growth");
        double trimmed = Fork.reclaiming().flag("-Debb.malloc=trim").run(Residents.class, "kept").number("growth");
        assertTrue(trimmed < 40 && trimmed < 0.5 * usual, trimmed + " MB, " + usual + " without");
    }

    /** Under a limit of the system's, stock DJL dies. */
    @Test
    void anAllocationThatFailsIsTriedAgain() throws Exception {
        String[] limits = {"-Xmx128m", "-XX:ReservedCodeCacheSize=64m", "-XX:CompressedClassSpaceSize=64m"};
        int floats = 100_000_000;
        Fork stock = Fork.stock().flag(limits).prefix("prlimit", "--as=4000000000");
        assertTrue(stock.run(BoundedLoop.class, 12, floats).status() != 0);
        Fork ours = Fork.reclaiming().flag(limits).flag("-Debb.budget=100GB").prefix("prlimit", "--as=4000000000");
        Fork.Result result = ours.run(BoundedLoop.class, 12, floats);
        assertEquals(0, result.status(), result.text());
    }
}
