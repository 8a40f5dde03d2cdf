package dev.ebb.djl.hazards;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.support.Fork;
import org.junit.jupiter.api.Test;

/**
 * Arrays made from Java data alias a direct buffer in stock DJL, which the collector frees while views or the graph
 * still read it. Under Ebb's agent they own their memory. Each hazard is shown first.
 */
class OwnMemoryTest {
    private static final Fork.Result run(Fork fork, String program) throws Exception {
        Fork.Result result = fork.run(OwnMemory.class, program);
        assertEquals(0, result.status(), result.text());
        return result;
    }

    private static Fork withoutCure() {
        return Fork.reclaiming().flag("-Debb.without.ownMemory=true");
    }

    @Test
    void aViewOutlivesItsClosedSource() throws Exception {
        assertTrue(run(withoutCure(), "view").number("wrong") > 0);
        assertEquals(0, run(Fork.reclaiming(), "view").number("wrong"));
    }

    @Test
    void soItDoesWithReclaimOff() throws Exception {
        assertEquals(0, run(Fork.withAgent(), "view").number("wrong"));
    }

    @Test
    void theGradientOfANumbersProduct() throws Exception {
        assertTrue(run(withoutCure(), "gradient").number("wrong") > 0);
        assertEquals(0, run(Fork.reclaiming(), "gradient").number("wrong"));
    }

    @Test
    void closedArraysFromJavaDataLeaveNothingBehind() throws Exception {
        Fork stock = Fork.stock().flag("-Xms2g", "-Xmx2g");
        assertTrue(run(stock, "create").number("growth") > 400, "stock keeps the buffers of closed arrays");
        Fork cured = Fork.withAgent().flag("-Xms2g", "-Xmx2g");
        assertTrue(run(cured, "create").number("growth") < 100);
    }
}
