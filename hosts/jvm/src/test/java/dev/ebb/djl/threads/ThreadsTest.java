package dev.ebb.djl.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ebb.djl.support.Fork;
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
}
