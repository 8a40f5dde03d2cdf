package dev.ebb.djl.loaders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.support.Fork;
import org.junit.jupiter.api.Test;

/** The agent's arguments, and the agent in a JVM that runs already. */
class AgentTest {
    /** Says what is switched on. */
    public static final class Switches {
        private Switches() {}

        public static void main(String[] arguments) {
            try (NDManager manager = NDManager.newBaseManager()) {
                manager.ones(new Shape(10));
                System.out.println("reclaiming=" + Ebb.isReclaiming());
                System.out.println("managers=" + Ebb.memory().managers());
                System.out.println("json=" + Ebb.reportJson(3).replaceAll("\\s", ""));
            }
        }
    }

    private static Fork with(String arguments) {
        return Fork.stock().flag("-javaagent:" + Fork.agent() + "=" + arguments);
    }

    @Test
    void argumentsAreSwitches() throws Exception {
        Fork.Result result = with("reclaim=true,budget=123MB").run(Switches.class);
        assertEquals("true", result.value("reclaiming"), result.text());
        assertEquals(1, result.number("managers"), "the engine's own is not counted");
        assertTrue(result.value("json").contains(Long.toString(123L << 20)), result.text());
    }

    @Test
    void theyGoBeforeProperties() throws Exception {
        Fork.Result result = with("reclaim=false").flag("-Debb.reclaim=true").run(Switches.class);
        assertEquals("false", result.value("reclaiming"), result.text());
    }

    @Test
    void thoseOfAnAgentThatIsThereTwiceCount() throws Exception {
        Fork.Result result = with("reclaim=true").flag("-javaagent:" + Fork.agent() + "=budget=123MB").run(Switches.class);
        assertEquals("true", result.value("reclaiming"), result.text());
        assertTrue(result.value("json").contains(Long.toString(123L << 20)), result.text());
    }

    @Test
    void wrongOnesAreNamed() throws Exception {
        Fork.Result result = with("reclam=true,strict,budget=lots,reclaim=true").run(Switches.class);
        assertEquals("true", result.value("reclaiming"), result.text());
        for (String wrong : new String[] {"'reclam=true'", "'strict'", "'lots'", "allowed: budget="}) {
            assertTrue(result.text().contains(wrong), result.text());
        }
    }

    private static Fork running() {
        return Fork.stock().flag("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading");
    }

    private static void isTakenOver(Fork.Result result) {
        assertEquals(0, result.status(), result.text());
        assertEquals("true", result.value("reclaiming"), result.text());
        assertTrue(result.number("reclaimed") >= 1000, result.text());
        assertEquals(2, result.number("managers"), result.text());
        assertEquals(1005, result.number("sum"), result.text());
        assertEquals("true", result.value("back"), result.text());
        assertEquals(0, result.number("left"), result.text());
    }

    @Test
    void aRunningJvmsManagersAreTakenOver() throws Exception {
        isTakenOver(running().run(Attached.class, "reclaim=true"));
    }

    @Test
    void whatIsThereCanBeSwitchedOnLater() throws Exception {
        isTakenOver(running().run(Attached.class, "", "reclaim=true"));
    }
}
