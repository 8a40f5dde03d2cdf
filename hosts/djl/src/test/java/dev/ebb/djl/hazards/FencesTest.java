package dev.ebb.djl.hazards;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.support.Fork;
import org.junit.jupiter.api.Test;

/** No drain may free what another thread's native call still reads. */
class FencesTest {
    private static final int CALLS = 5;

    @Test
    void operandsLiveAsLongAsTheirCall() throws Exception {
        Fork.Result result = Fork.reclaiming().run(OperandInCall.class, CALLS);
        assertEquals(0, result.status(), result.text());
        assertEquals(CALLS, result.number("watched"));
        assertEquals(0, result.number("dead"));
        assertEquals(0, result.number("wrong"));
    }

    /** The collector has found them dead by then. */
    @Test
    void finalizersUseWhatTheyReach() throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-XX:-CreateCoredumpOnCrash").run(Finalized.class);
        assertEquals(0, result.status(), result.text());
        assertEquals(0, result.number("wrong"), result.text());
        assertEquals(0, result.number("left"), result.text());
    }

    @Test
    void withoutFencesTheyDoNot() throws Exception {
        Fork fork = Fork.reclaiming().flag("-Debb.without.fences=true", "-XX:-CreateCoredumpOnCrash",
                        "-XX:ErrorFile=" + System.getProperty("java.io.tmpdir") + "/ebb-expected-%p.log");
        Fork.Result result = fork.run(OperandInCall.class, CALLS);
        assertTrue(result.status() != 0 || result.number("dead") > 0, result.text());
    }
}
