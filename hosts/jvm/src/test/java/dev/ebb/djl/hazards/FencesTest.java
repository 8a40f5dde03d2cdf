package dev.ebb.djl.hazards;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.support.Fork;
import org.junit.jupiter.api.Test;

/** No drain may free what another thread's native call still reads. */
class FencesTest {
    private static final double SECONDS = Double.parseDouble(System.getProperty("ebb.test.fence.seconds", "6"));

    @Test
    void operandsLiveAsLongAsTheirCall() throws Exception {
        Fork.Result result = Fork.reclaiming().run(OperandInCall.class, 3, SECONDS);
        assertEquals(0, result.status(), result.text());
        assertEquals(0, result.number("wrong"));
        assertTrue(result.number("right") > 100, result.text());
    }

    @Test
    void withoutFencesTheyDoNot() throws Exception {
        Fork fork = Fork.reclaiming().flag("-Debb.without.fences=true", "-XX:-CreateCoredumpOnCrash",
                        "-XX:ErrorFile=" + System.getProperty("java.io.tmpdir") + "/ebb-expected-%p.log");
        for (int i = 0; i < 4; i++) {
            Fork.Result result = fork.run(OperandInCall.class, 3, SECONDS);
            if (result.status() != 0 || result.number("wrong") > 0) {
                return;
            }
        }
        throw new AssertionError("Nothing went wrong without fences: this test shows nothing.");
    }
}
