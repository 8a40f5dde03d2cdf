package dev.ebb.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class TracingTest {

    private boolean on;

    private final EbbAgent agent =
            (EbbAgent)
                    Proxy.newProxyInstance(
                            EbbAgent.class.getClassLoader(),
                            new Class<?>[] {EbbAgent.class},
                            (proxy, called, given) -> {
                                assertEquals("trace", called.getName());
                                on = (Boolean) given[0];
                                return null;
                            });

    @Test
    void theFirstOfAStageAndThenSome() {
        Tracing tracing = new Tracing(agent, "sample");
        assertFalse(on);
        int traced = 0;
        for (int i = 0; i < 64; i++) {
            boolean chosen = tracing.begin(3);
            assertEquals(chosen, on);
            traced += chosen ? 1 : 0;
            if (chosen) {
                tracing.end();
            }
            assertFalse(on);
        }
        assertEquals(4, traced);
        assertTrue(tracing.begin(4), "another stage");
    }

    @Test
    void allOnceOneHasKeptSomethingUnknown() {
        Tracing tracing = new Tracing(agent, "sample");
        tracing.begin(1);
        assertFalse(tracing.begin(1));
        tracing.suspect();
        assertTrue(tracing.begin(1));
        tracing.end();
        assertTrue(on, "the first runs still");
        tracing.end();
        assertFalse(on);
    }

    @Test
    void alwaysAndNever() {
        assertFalse(new Tracing(agent, "true").begin(1));
        assertTrue(on);
        assertFalse(new Tracing(agent, "false").begin(1));
        assertFalse(on);
    }
}
