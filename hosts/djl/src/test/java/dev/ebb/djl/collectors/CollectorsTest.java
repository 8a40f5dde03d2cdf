package dev.ebb.djl.collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.support.Fork;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Under every collector, and whatever {@code System.gc()} does there, a careless loop stays under its budget. Shenandoah
 * with DisableExplicitGC is not among them: there the JVM refuses JVMTI's request as well.
 */
class CollectorsTest {
    private static final int BUDGET_MB = 256;
    private static final int ITERATIONS = 150; // of 8 MB each: 1.2 GB if nothing comes back
    private static final int MILLION = 1 << 20;

    /** The heap is all there from the start, so that what grows is the engine's memory. */
    private static Fork fork(String flags) {
        Fork fork = Fork.reclaiming().flag("-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch");
        return fork.flag("-Debb.budget=" + BUDGET_MB + "MB").flag(flags.split(" "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-XX:+UseG1GC",
                "-XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent",
                "-XX:+UseG1GC -XX:+DisableExplicitGC",
                "-XX:+UseParallelGC",
                "-XX:+UseParallelGC -XX:+DisableExplicitGC",
                "-XX:+UseSerialGC",
                "-XX:+UseSerialGC -XX:+DisableExplicitGC",
                "-XX:+UseZGC",
                "-XX:+UseZGC -XX:+DisableExplicitGC",
                "-XX:+UseShenandoahGC",
                "-XX:+UseShenandoahGC -XX:+ExplicitGCInvokesConcurrent"
            })
    void aCarelessLoopStaysUnderItsBudget(String flags) throws Exception {
        Fork.Result result = fork(flags).run(BoundedLoop.class, ITERATIONS, MILLION);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("growth") <= 1.25 * BUDGET_MB, result.text());
    }

    /** There nobody can ask the JVM to collect. What Ebb says must be true: the loop holds next to nothing. */
    @Test
    void whereTheJvmIgnoresItThatIsSaid() throws Exception {
        String flags = "-XX:+UseShenandoahGC -XX:+DisableExplicitGC";
        Fork.Result result = fork(flags).run(BoundedLoop.class, ITERATIONS, MILLION);
        if (result.text().contains("UseShenandoahGC not supported")) {
            return; // this JDK has no such collector
        }
        assertEquals(0, result.status(), result.text());
        assertTrue(result.text().contains("does not collect when asked"), result.text());
        assertTrue(!result.text().contains("reach"), result.text());
    }

    @Test
    void withoutReclaimItDoesNot() throws Exception {
        Fork fork = Fork.withAgent().flag("-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch");
        Fork.Result result = fork.run(BoundedLoop.class, ITERATIONS, MILLION);
        assertTrue(result.number("growth") > 1000, result.text());
    }

    @Test
    void withoutWeakMapsItDoesNot() throws Exception {
        Fork.Result result =
                fork("-XX:+UseG1GC").flag("-Debb.without.weakMaps=true").run(BoundedLoop.class, ITERATIONS, MILLION);
        assertTrue(result.number("growth") > 1000, result.text());
    }
}
