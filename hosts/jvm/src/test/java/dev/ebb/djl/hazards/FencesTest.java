package dev.ebb.djl.hazards;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.support.Fork;
import org.junit.jupiter.api.Test;

/** No drain may free what another thread's native call still reads. */
class FencesTest {
    private static final int PRODUCTS = Integer.getInteger("ebb.test.products", 60);

    @Test
    void operandsLiveAsLongAsTheirCall() throws Exception {
        Fork.Result result = Fork.reclaiming().run(OperandInCall.class, PRODUCTS);
        assertEquals(0, result.status(), result.text());
        assertEquals(0, result.number("wrong"));
        assertTrue(result.number("right") >= PRODUCTS, result.text());
    }

    @Test
    void withoutFencesTheyDoNot() throws Exception {
        Fork fork = Fork.reclaiming().flag("-Debb.without.fences=true", "-XX:-CreateCoredumpOnCrash",
                        "-XX:ErrorFile=" + System.getProperty("java.io.tmpdir") + "/ebb-expected-%p.log");
        Fork.Result result = fork.run(OperandInCall.class, 10 * PRODUCTS);
        assertTrue(result.status() != 0 || result.number("wrong") > 0, "Nothing went wrong: this test shows nothing.");
    }
}
