package dev.ebb.djl.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.collectors.BoundedLoop;
import dev.ebb.djl.support.Fork;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A budget is soft: kept while what can be reached fits it, and said once when it does not. */
@Tag("once")
class BudgetTest {
    private static final int MILLION = 1 << 20;
    private static final int MANY_COLLECTIONS = 40;
    private static final long LEAST_NANOS = 1_000_000_000;

    /** Holds twice its budget, then goes on dropping. */
    public static final class TooMuch {
        private TooMuch() {}

        public static void main(String[] arguments) {
            List<NDArray> held = new ArrayList<>();
            try (NDManager manager = NDManager.newBaseManager()) {
                for (int i = 0; i < 16; i++) {
                    held.add(manager.ones(new Shape(MILLION)));
                }
                System.out.println("share=" + shareOfCollecting(held));
                System.out.println("sum=" + held.get(15).sum().getFloat());
            } catch (RuntimeException e) {
                System.out.println("thrown=" + e.getClass().getSimpleName() + ": " + e.getMessage().replace('\n', ' '));
            }
        }
    }

    /** Over so long that one collection more or less does not decide, however slow the machine makes it. */
    private static double shareOfCollecting(List<NDArray> held) {
        Memory before = Ebb.memory();
        Memory after = before;
        long start = System.nanoTime();
        long took = 0;
        while (took < Math.max(LEAST_NANOS, MANY_COLLECTIONS * after.longestCollectNanos())) {
            for (int i = 0; i < 500; i++) {
                held.get(i % 16).get("0:100000").mul(2);
            }
            after = Ebb.memory();
            took = System.nanoTime() - start;
        }
        return (double) (after.collectNanos() - before.collectNanos()) / took;
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

    @Test
    void beyondItCollectingKeepsToItsShare() throws Exception {
        Fork.Result result = small().run(TooMuch.class);
        assertTrue(result.number("share") <= 0.10, result.text());
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
