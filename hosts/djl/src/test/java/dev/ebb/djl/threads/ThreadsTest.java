package dev.ebb.djl.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.support.Fork;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Eight threads making, dropping, closing; managers closed while others drain. */
class ThreadsTest {
    private static final int REPETITIONS = Integer.getInteger("ebb.test.repetitions", 10);

    private static void churn(Fork fork) throws Exception {
        Fork.Result result = fork.seconds(600).run(Churn.class, 8, REPETITIONS, 400);
        assertEquals(0, result.status(), result.text());
        assertEquals(REPETITIONS, result.number("repetitions"));
    }

    @Test
    void stockDjlDoesIt() throws Exception {
        churn(Fork.stock());
    }

    @Test
    void withReclaimOn() throws Exception {
        churn(Fork.reclaiming());
    }

    @Test
    void withASmallBudget() throws Exception {
        churn(Fork.reclaiming().flag("-Debb.budget=2MB"));
    }

    @Test
    void withTracing() throws Exception {
        churn(Fork.reclaiming().flag("-Debb.trace=true"));
    }

    /** Names the threads there are after some arrays were dropped and collected. */
    public static final class Names {
        private Names() {}

        public static void main(String[] arguments) throws Exception {
            try (NDManager manager = NDManager.newBaseManager()) {
                for (int i = 0; i < 1000; i++) {
                    manager.ones(new Shape(10));
                }
                System.gc();
                Thread.sleep(200);
                manager.ones(new Shape(10));
                TreeSet<String> names = new TreeSet<>();
                Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
                names.removeAll(List.of("Attach Listener", "Keep-Alive-Timer", "process reaper")); // the JDK's, for a while
                System.out.println("threads=" + names);
            }
        }
    }

    @Test
    void ebbHasNoThreadOfItsOwn() throws Exception {
        String stock = Fork.stock().run(Names.class).value("threads");
        assertEquals(stock, Fork.reclaiming().run(Names.class).value("threads"));
    }

    /** In mid-call, 100 times; 1,000 in the soak. */
    @Test
    void interruptedOnesLeaveNothing() throws Exception {
        Fork.Result result = Fork.reclaiming().seconds(300).run(Interrupted.class, 100);
        assertEquals(0, result.status(), result.text());
        assertEquals(0, result.number("left"), result.text());
        assertEquals(0, result.number("wrong"), result.text());
    }
}
